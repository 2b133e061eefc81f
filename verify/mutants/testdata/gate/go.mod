module gate

go 1.25
