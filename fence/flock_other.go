//go:build !(linux || darwin || freebsd || openbsd || netbsd)

package fence

import (
	"errors"
	"os"
)

func flock(*os.File) error {
	return errors.New("files that refuse old tokens need flock, which this platform does not have")
}
