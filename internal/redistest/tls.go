package redistest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// TLSURL returns rediss://127.0.0.1:port, for a server with [TLS].
func (s *Server) TLSURL() string {
	return "rediss://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(s.tlsPort))
}

// TLSConfig returns a configuration that trusts only the certificate of a server with [TLS].
func (s *Server) TLSConfig() *tls.Config { return s.tlsConf.Clone() }

func (s *Server) prepareTLS() error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	cert := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"localhost"},
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, cert, cert, &key.PublicKey, key)
	if err != nil {
		return err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		return err
	}
	pool := x509.NewCertPool()
	pool.AddCert(parsed)
	s.tlsConf = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	if err := s.writePEM("cert.pem", "CERTIFICATE", der); err != nil {
		return err
	}
	return s.writePEM("key.pem", "PRIVATE KEY", secret)
}

func (s *Server) writePEM(name, kind string, der []byte) error {
	return os.WriteFile(filepath.Join(s.dir, name), pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600)
}
