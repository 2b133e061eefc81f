package cli

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/holdfast-go/holdfast/cmd/holdfast/internal/doctor"
	"github.com/holdfast-go/holdfast/cmd/holdfast/internal/sample"
	"github.com/holdfast-go/holdfast/cmd/holdfast/internal/ui"
)

const uiHelp = `ui serves a web page that shows the locks, waiters, nodes, jobs and elections of the
node set, live. What needs attention comes first, and what is not known is called so.
Each lock, job and node has a page of its own, whose address can be shared. The page
does not show owners, so nobody can release a lock with its help. PATTERN selects
names as in holdfast list.

ui asks the nodes once a second, however many browsers watch, and once in 15 seconds
while nobody watches, for its history since it began. With many names a reading takes
longer, and ui asks less often. It sends each node at most --rate small requests per
second. The lists of names and of jobs have the first 500, those that need attention
first. Their filter finds all.

The page is read-only. With --allow-actions, which needs --token-file, a reader can
take a lock away from its holder, run, pause and resume a job, and withdraw a request
for a run. Each action has a line on stderr, and those of jobs are in the audit of the
job.

On a loopback address it needs no password, and it answers only requests that name
a loopback host. Every other address needs TLS (--tls-cert and --tls-key) and a
token (--token-file), a secret text of at least 16 bytes. A browser asks for the
token once in 12 hours. Make one with:

  (umask 077; head -c 24 /dev/urandom | base64 > token)

From another machine you need neither with ssh -L 7390:127.0.0.1:7390 HOST.

With --demo it shows a busy set of embedded nodes, and needs no server.`

const endpointOfUI = ` The metrics of ui have all elections, and the
1,000 jobs with the first names, so that one ui is enough for a fleet. A scrape reads
the nodes as a browser does.`

type uiFlags struct {
	listen, cert, key, token string
	actions                  bool
}

func (a *app) ui() *cobra.Command {
	var f uiFlags
	var w watching
	cmd := &cobra.Command{
		Use:     "ui [PATTERN]",
		Short:   "Serve a web page that shows locks, nodes and jobs, live",
		Long:    uiHelp + fmt.Sprintf(endpointHelp, ", if too few nodes\nvote") + endpointOfUI,
		Example: "  holdfast ui\n  holdfast ui 'order/*'\n  holdfast ui --listen :7390 --tls-cert cert.pem --tls-key key.pem --token-file token",
		Args:    w.args("ui"),
		PreRunE: a.configure,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.watch(cmd, w, args, func(s watched) error { return a.serve(cmd.OutOrStdout(), s, f) })
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.listen, "listen", "127.0.0.1:7390", "address and port of the page; port 0 is a free one")
	flags.StringVar(&f.cert, "tls-cert", "", "file with the certificate and its chain, in PEM")
	flags.StringVar(&f.key, "tls-key", "", "file with the private key, in PEM")
	flags.StringVar(&f.token, "token-file", "", "file with the token that a reader must enter")
	flags.BoolVar(&f.actions, "allow-actions", false, "readers may take locks away, and run, pause and resume jobs; needs --token-file")
	w.register(flags)
	w.listen.register(flags)
	cmd.ValidArgsFunction = cobra.NoFileCompletions
	return cmd
}

// serve serves the page until a signal.
func (a *app) serve(out io.Writer, s watched, f uiFlags) error {
	if f.listen == "" { // package net would listen at any port of all addresses
		return usage(errors.New("--listen is \"\": want an address and a port such as 127.0.0.1:7390"), "leave --listen out for 127.0.0.1:7390")
	}
	if f.actions && f.token == "" {
		return usage(errors.New("--allow-actions needs --token-file, because whoever reaches the page could change locks and jobs"),
			makeToken("token"))
	}
	token, err := f.readToken(a.talker)
	if err != nil {
		return err
	}
	secrets, err := f.certificate()
	if err != nil {
		return err
	}
	l, local, err := ui.Listen(f.listen, secrets != nil && token != "")
	if err != nil {
		return f.notOpen(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	a.endsBy(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	s.Keep(ctx)
	c := ui.Config{Sampler: s.Sampler, Token: token, Local: local, TLS: secrets != nil, Details: &sample.Details{Client: s.client}}
	if f.actions {
		c.Actions = uiActions{a.talker, s}
	}
	server := &http.Server{
		Handler:   ui.Handler(c),
		TLSConfig: secrets, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 16 << 10,
		ReadTimeout: 0, // a stream of readings lasts
		BaseContext: func(net.Listener) context.Context { return ctx }, ErrorLog: log.New(io.Discard, "", 0),
	}
	at := "http://"
	if secrets != nil {
		at = "https://"
	}
	if _, err := fmt.Fprintln(out, at+l.Addr().String()+"/"); err != nil {
		return printed(err)
	}
	a.note("Ctrl-C ends the page")
	ended := make(chan error, 1)
	go func() {
		if secrets != nil {
			ended <- server.ServeTLS(l, "", "")
			return
		}
		ended <- server.Serve(l)
	}()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	bounded, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if server.Shutdown(bounded) != nil { // a reader does not take its answer
		_ = server.Close()
	}
	return nil
}

// leastToken is the length of the shortest token, in bytes.
const leastToken = 16

// makeToken returns the advice to make a token that only its owner can read.
func makeToken(file string) string {
	return "make a token with: (umask 077; head -c 24 /dev/urandom | base64 > " + file + ")"
}

// readToken returns the token, "" if there is no file of it.
func (f uiFlags) readToken(t *talker) (string, error) {
	if f.token == "" {
		return "", nil
	}
	text, err := os.ReadFile(f.token)
	if err != nil {
		return "", usage(fmt.Errorf("--token-file: %w", err), "")
	}
	token := strings.TrimSpace(string(text))
	if len(token) < leastToken || strings.ContainsAny(token, "\r\n") {
		return "", usage(fmt.Errorf("--token-file %s must have one line of at least %d bytes", f.token, leastToken),
			makeToken(doctor.Word(f.token)))
	}
	if at, err := os.Stat(f.token); err == nil && at.Mode().Perm()&0o007 != 0 {
		t.say("every user of this machine can read the token: chmod 600 %s", doctor.Word(f.token))
	}
	return token, nil
}

// certificate returns the settings of TLS, nil if there is no TLS.
func (f uiFlags) certificate() (*tls.Config, error) {
	switch {
	case f.cert == "" && f.key == "":
		return nil, nil
	case f.cert == "" || f.key == "":
		return nil, usage(fmt.Errorf("--%s needs --%s", map[bool]string{true: "tls-key", false: "tls-cert"}[f.cert == ""],
			map[bool]string{true: "tls-cert", false: "tls-key"}[f.cert == ""]), "")
	}
	pair, err := tls.LoadX509KeyPair(f.cert, f.key)
	if err != nil {
		return nil, usage(fmt.Errorf("--tls-cert %s and --tls-key %s: %w", f.cert, f.key, err), "")
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, nil
}

// notOpen explains why the server does not listen.
func (f uiFlags) notOpen(err error) error {
	if errors.Is(err, ui.ErrOpen) {
		missing := []string{}
		if f.cert == "" {
			missing = append(missing, "--tls-cert and --tls-key")
		}
		if f.token == "" {
			missing = append(missing, "--token-file")
		}
		return usage(fmt.Errorf("--listen %s needs %s, because others can reach this address", f.listen, strings.Join(missing, ", and ")),
			"or listen at 127.0.0.1:7390, and use ssh -L 7390:127.0.0.1:7390 HOST from another machine")
	}
	if errors.Is(err, syscall.EADDRINUSE) {
		return usage(fmt.Errorf("--listen %s: the port is in use", f.listen), "choose another port, or 0 for a free one")
	}
	var op *net.OpError
	if errors.As(err, &op) {
		err = cmp.Or(op.Err, err)
	}
	return usage(fmt.Errorf("--listen %s: %w", f.listen, err), "it looks like --listen 127.0.0.1:7390")
}
