"""Where blocks of work run: in this process, in several, or on a Dask cluster."""
