"""What travels as JSON, and the way between that and the model.

Requests have shapes of their own, so that a misspelt field is refused instead of ignored.
Answers have none: the model types *are* their shapes, read and written through pydantic.

This file maps and does not judge. What a mesh refuses by its own rules (an empty body, a salience
of 2, an unknown type) passes through as it came, so that the service says the same about it
whichever face it came from. Only what has no meaning as a request at all is refused here.
"""
