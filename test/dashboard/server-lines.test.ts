import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parse } from 'smol-toml'
import { formatServerLines, type ServerSettings } from '../../src/dashboard/logic/server-lines.ts'

/** The objects of the parser have no prototype. */
const read = (text: string) => JSON.parse(JSON.stringify(parse(text)))

const running: ServerSettings = {
  baseUrl: 'http://localhost:8080',
  hostname: 'box',
  mode: 'sandbox',
}

describe('the lines of pillarbox.toml', () => {
  it('are none for a server that runs as it is wanted', () => {
    assert.equal(formatServerLines(running, running), '')
  })

  it('have what differs, in the sections of the file', () => {
    const wanted: ServerSettings = {
      ...{ baseUrl: 'https://mail.example.com', hostname: 'mail.example.com', mode: 'direct' },
    }
    assert.equal(
      formatServerLines(wanted, running),
      `base_url = "https://mail.example.com"

[delivery]
mode = "direct"
hostname = "mail.example.com"
`,
    )
  })

  it('name the smarthost, and leave its password to the operator', () => {
    const relay = { host: 'smtp.example.com', port: '465', username: 'box' }
    const text = formatServerLines({ ...running, mode: 'relay', relay }, running)
    assert.deepEqual(read(text), {
      delivery: { mode: 'relay', relay: { host: 'smtp.example.com', port: 465, username: 'box' } },
    })
    assert.match(text, /^# password = "…"$/m)
    const plain = { host: 'smtp.example.com', port: '', username: '' }
    assert.doesNotMatch(
      formatServerLines({ ...running, mode: 'relay', relay: plain }, running),
      /port|password/,
    )
  })

  it('are one value each, whatever was typed', () => {
    const hostname = 'a"\n[http]\nlisten = "0.0.0.0:80\\\u0000\u007f'
    const text = formatServerLines({ ...running, hostname }, running)
    assert.deepEqual(read(text), { delivery: { hostname } })
  })
})
