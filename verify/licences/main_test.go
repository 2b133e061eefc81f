package main

import "testing"

func TestOnlyKnownLicencesAreAllowed(t *testing.T) {
	for text, want := range map[string]string{
		"Permission is hereby granted, free of charge, to any person obtaining a\n copy of":                        "MIT",
		"Apache License\n  Version 2.0, January 2004":                                                              "Apache-2.0",
		"Redistribution and use in source and binary forms, ... Neither the name of Google":                        "BSD-3-Clause",
		"Redistribution and use in source and binary forms, with or without":                                       "BSD-2-Clause",
		"Mozilla Public License Version 2.0 ... the GNU General Public License":                                    "MPL-2.0",
		"GNU GENERAL PUBLIC LICENSE Version 3":                                                                     "",
		"Server Side Public License. Permission is hereby granted, free of charge, to any person obtaining a copy": "",
		"All rights reserved": "",
		"":                    "",
	} {
		if got := classify(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}
