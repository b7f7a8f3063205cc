import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  formatListenAddress,
  isHostName,
  isLoopbackHost,
  parseListenAddress,
} from '../../../src/config/values/listen-address.ts'

describe('listen addresses', () => {
  it('consist of host and port, with tls:// in front for implicit TLS', () => {
    const cases: [string, string, number, boolean][] = [
      ['0.0.0.0:25', '0.0.0.0', 25, false],
      ['127.0.0.1:0', '127.0.0.1', 0, false],
      ['[::]:25', '::', 25, false],
      ['localhost:8080', 'localhost', 8080, false],
      ['tls://0.0.0.0:465', '0.0.0.0', 465, true],
      ['tls://[::1]:465', '::1', 465, true],
    ]
    for (const [text, host, port, isTls] of cases) {
      const address = parseListenAddress(text)
      assert.deepEqual(address, { host, port, isTls })
      assert.equal(formatListenAddress(address!), text)
    }
  })

  it('are refused in any other form', () => {
    const wrong = [
      '',
      '8080',
      ':8080',
      '0.0.0.0',
      '::1:25',
      '[::1]',
      '[127.0.0.1]:25',
      '1.2.3.4:65536',
      '1.2.3.4:-1',
      '1.2.3:25',
      'a_b:25',
      'ssl://0.0.0.0:465',
      'TLS://0.0.0.0:465',
      '0.0.0.0:25\n',
      ' 0.0.0.0:25',
    ]
    for (const text of wrong) assert.equal(parseListenAddress(text), undefined, text)
  })

  it('are recognised as loopback in every spelling', () => {
    const loopback = ['127.0.0.1', '127.9.9.9', '::1', '0:0:0:0:0:0:0:1', '::ffff:127.0.0.1']
    for (const host of [...loopback, 'localhost']) assert.ok(isLoopbackHost(host), host)
    for (const host of ['0.0.0.0', '::', '10.0.0.1', '128.0.0.1', 'localhost.example.com']) {
      assert.ok(!isLoopbackHost(host), host)
    }
  })

  it('have host names of letters, digits and inner hyphens', () => {
    for (const name of ['a', 'mail', 'mail.example.com', 'x-1.example']) assert.ok(isHostName(name))
    for (const name of [
      '',
      '-a',
      'a-',
      'a..b',
      'a_b',
      '1.2.3.4',
      'mail.7',
      `${'a'.repeat(64)}.b`,
    ]) {
      assert.ok(!isHostName(name), name)
    }
  })
})
