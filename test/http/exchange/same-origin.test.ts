import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { describe, it } from 'node:test'
import { refuseCrossSite } from '../../../src/http/exchange/same-origin.ts'

type Sent = { origin: string; host: string; baseUrl?: string; isTls?: boolean }

function isRefused({ origin, host, baseUrl = 'https://mail.test', isTls = false }: Sent): boolean {
  const incoming = {
    socket: { encrypted: isTls },
    headers: { origin, host },
  } as IncomingMessage & {
    socket: { encrypted: boolean }
  }
  try {
    refuseCrossSite(incoming, baseUrl)
    return false
  } catch (error) {
    assert.equal(Object(error).code, 'FORBIDDEN')
    return true
  }
}

describe('S17: the origin of a request', () => {
  it('is own with the base URL, and with the host of the request', () => {
    for (const host of ['mail.test', 'other.test']) {
      assert.equal(isRefused({ origin: 'https://mail.test', host }), false)
      assert.equal(isRefused({ origin: `https://${host}`, host }), false)
    }
    assert.equal(isRefused({ origin: 'https://evil.test', host: 'mail.test' }), true)
    assert.equal(isRefused({ origin: 'https://mail.test:8443', host: 'mail.test' }), true)
    assert.equal(isRefused({ origin: 'null', host: 'mail.test' }), true)
  })

  it('in clear text is foreign to a server with HTTPS', () => {
    for (const host of ['mail.test', 'other.test']) {
      assert.equal(isRefused({ origin: `http://${host}`, host }), true)
    }
    const own = { origin: 'http://mail.test:8080', host: 'mail.test:8080' }
    assert.equal(isRefused({ ...own, baseUrl: 'http://10.0.0.1', isTls: true }), true)
    assert.equal(isRefused({ ...own, baseUrl: 'http://10.0.0.1' }), false)
  })

  it('is foreign with another scheme, and with more than a scheme, a host and a port', () => {
    const host = 'mail.test'
    for (const origin of [
      ...['ftp://mail.test', 'ws://mail.test', 'wss://mail.test', 'app://mail.test'],
      ...['//mail.test', 'mail.test', 'mail.test:443', 'blob:https://mail.test', ''],
      ...['ada@mail.test', 'ada:secret@mail.test', '@mail.test', ':@mail.test'].flatMap((rest) => [
        `https://${rest}`,
        `http://${rest}`,
      ]),
      ...['https://mail.test/', 'https://mail.test/?', 'https://mail.test#', 'https:mail.test'],
      ...['https://mail.test, https://evil.test', 'https://mail.test https://evil.test'],
    ]) {
      for (const baseUrl of ['https://other.test', 'http://10.0.0.1']) {
        assert.equal(isRefused({ origin, host, baseUrl }), true, origin)
      }
    }
  })

  it('of a tunnel to this machine is own', () => {
    for (const host of ['127.0.0.1:8080', 'localhost:8080', '[::1]:8080']) {
      assert.equal(isRefused({ origin: `http://${host}`, host }), false, host)
    }
  })
})
