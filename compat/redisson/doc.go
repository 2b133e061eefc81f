// Package redisson (draft)
package redisson
