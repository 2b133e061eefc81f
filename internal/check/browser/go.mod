// The page of holdfast ui in a real browser: a module of its own, because the driver of the browser is its dependency.
module github.com/holdfast-go/holdfast/internal/check/browser

go 1.25.0

replace github.com/holdfast-go/holdfast => ../../../

require (
	github.com/chromedp/cdproto v0.159.0
	github.com/chromedp/chromedp v0.23.0
	github.com/holdfast-go/holdfast v0.0.0
)

require (
	github.com/go-json-experiment/json v0.0.0-20260213210345-44df1a37e875 // indirect
	github.com/netresearch/go-cron v0.9.1 // indirect
	golang.org/x/sys v0.47.0 // indirect
)
