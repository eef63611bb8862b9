"""The demo: enhancement proposals of Kubernetes find the groups they concern."""
