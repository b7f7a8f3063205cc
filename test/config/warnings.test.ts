import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, it } from 'node:test'
import { loadSettings } from '../../src/config/load.ts'
import { listWarnings } from '../../src/config/warnings.ts'
import { type ConfigFolder, makeConfigFolder } from './config-folder.ts'

const skip = process.platform === 'win32' ? 'Windows has no file modes' : false

function warningsOf(dir: ConfigFolder, toml: string, mode = 0o600): string[] {
  writeFileSync(dir.file, toml)
  chmodSync(dir.file, mode)
  return listWarnings(loadSettings(dir.options()))
}

const direct = "[delivery]\nmode = 'direct'\nhostname = 'mail.example.com'\n"
const relay = "[delivery]\nmode = 'relay'\n[delivery.relay]\nhost = 'smtp.example.com'\n"
const secure = "base_url = 'https://mail.example.com'\n"

const cases: [toml: string, warning: RegExp | null][] = [
  ['', null],
  [secure + direct, null],
  [secure + relay, null],
  [direct, /base_url is http:\/\/localhost:8080: recipients cannot reach it.*one-click/],
  [relay, /base_url/],
  [`base_url = 'https://[::1]:1'\n${direct}`, /recipients cannot reach it/],
  [`base_url = 'http://mail.example.com'\n${direct}`, /it is not https/],
  [`${secure}${direct}port = 2525\n`, /delivery.port is 2525/],
  [`${secure}${direct}allow_private_networks = true\n`, /delivery.allow_private_networks/],
  [`${secure}${direct}source_addresses = ['192.0.2.1']\n`, /192.0.2.1 is not an address of this/],
  [`${secure}${relay}tls = 'none'\n`, /delivery.relay.tls is none.*smtp.example.com/],
  [`${secure}[http]\nlisten = '0.0.0.0:80'\n${direct}`, /API keys travel in clear/],
  [`${secure}[http]\nlisten = '0.0.0.0:80'\ntrusted_proxies = ['10.0.0.1']\n${direct}`, null],
  ["[http]\nlisten = '0.0.0.0:80'\ntrusted_proxies = ['10.0.0.1']\n", /delivery.mode is sandbox/],
  ["[http]\nlisten = '127.0.0.1:18310'\n", /http.listen has port 18310: links in mail lead/],
  ["base_url = 'http://localhost:18310'\n[http]\nlisten = '127.0.0.1:18310'\n", null],
  ['[dns]\ncanary = []\n', /dns.canary is empty/],
  ['[limits]\nattachments_max_bytes = 40000000\n', /limits.attachments_max_bytes/],
]

describe('warnings', () => {
  it('appear for risky settings only', () => {
    const dir = makeConfigFolder()
    for (const [toml, warning] of cases) {
      const warnings = warningsOf(dir, toml)
      if (warning === null) assert.deepEqual(warnings, [], toml)
      else assert.match(warnings.join('\n'), warning, toml)
      assert.ok(warnings.length <= 1, warnings.join('\n'))
    }
  })

  it('name a file with secrets that every user can read', { skip }, () => {
    const dir = makeConfigFolder()
    const secret = `secret = '${'x'.repeat(40)}'`
    assert.deepEqual(warningsOf(dir, secret, 0o600), [])
    assert.deepEqual(warningsOf(dir, secret, 0o640), [])
    assert.match(warningsOf(dir, secret, 0o644).join(), /pillarbox.toml holds secrets/)
    assert.deepEqual(warningsOf(dir, '', 0o644), [])
    writeFileSync(path.join(dir.folder, 'kept'), 'x'.repeat(40))
    chmodSync(path.join(dir.folder, 'kept'), 0o644)
    assert.match(warningsOf(dir, "secret_file = 'kept'").join(), /kept holds secrets/)
  })

  it('name a data folder and a secret that other users can read', { skip }, () => {
    const dir = makeConfigFolder()
    const dataDir = path.join(dir.folder, 'data')
    mkdirSync(dataDir)
    chmodSync(dataDir, 0o755)
    assert.match(warningsOf(dir, '').join(), /data is open to other users; run chmod 700/)
    chmodSync(dataDir, 0o700)
    writeFileSync(path.join(dataDir, 'secret'), 'x'.repeat(40))
    chmodSync(path.join(dataDir, 'secret'), 0o644)
    assert.match(warningsOf(dir, '').join(), /secret is open to other users; run chmod 600/)
  })
})
