module mockbroker

go 1.22
