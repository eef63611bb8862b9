-- Why a cell was taken back, in its author's words: whoever had received it is told. It goes with
-- the diff when the cell is forgotten.
ALTER TABLE hyphaedb.diff ADD COLUMN reason text;
