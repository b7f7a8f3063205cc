import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { loadConfig, loadSettings } from '../../../src/config/load.ts'
import { settingKeys, settingOf } from '../../../src/config/settings.ts'
import { formatEffective, formatNewFile } from '../../../src/config/values/toml-text.ts'
import { makeConfigFolder } from '../config-folder.ts'

describe('a new configuration file', () => {
  it('changes no default', () => {
    const dir = makeConfigFolder()
    assert.deepEqual({ ...dir.load(formatNewFile({})), file: null }, dir.load(null))
  })

  it('has the given values, and every key with its description', () => {
    const dir = makeConfigFolder()
    const text = formatNewFile({ base_url: 'https://x.example', 'delivery.hostname': 'x.example' })
    const config = dir.load(text)
    assert.equal(config.baseUrl, 'https://x.example')
    assert.equal(config.delivery.hostname, 'x.example')
    for (const key of settingKeys) {
      const name = key.split('.').at(-1)
      assert.match(text, new RegExp(`^(?:# )?${name} = `, 'm'), key)
      assert.ok(text.includes(settingOf(key).description.split(' ')[0] ?? '?'))
    }
    for (const line of text.split('\n')) assert.ok(line.length <= 100, line)
  })

  it('stays valid when every line with a default is uncommented', () => {
    const dir = makeConfigFolder()
    const uncommented = formatNewFile({}).replace(/^# (?=[a-z0-9_]+ = )/gm, '')
    const withoutOptional = uncommented
      .split('\n')
      .filter(
        (line) =>
          !/^(?:secret|client_|issuer|ca_file|eab_|tls_(?:cert|key)|stripe|host|port = 587|user|pass)/.test(
            line,
          ),
      )
    const config = dir.load(withoutOptional.join('\n'))
    assert.equal(config.delivery.port, 25)
    assert.deepEqual(config.limits, dir.load(null).limits)
  })
})

describe('the effective values', () => {
  it('are TOML that loads as the same configuration and names the origins', () => {
    const dir = makeConfigFolder()
    writeFileSync(dir.file, "[delivery]\nhostname = 'mail.example.com'\nretry_schedule = ['90s']\n")
    const options = dir.options({ PILLARBOX_DELIVERY__PORT: '2525' })
    const { config, values, origins } = loadSettings(options)
    const text = formatEffective(values, origins)
    assert.match(text, /^port = 2525 {2}# PILLARBOX_DELIVERY__PORT$/m)
    assert.match(text, /^retry_schedule = \[ "90s" \] {2}# .*pillarbox.toml$/m)
    assert.match(text, /^mode = "sandbox" {2}# default$/m)
    writeFileSync(dir.file, text)
    assert.deepEqual(loadConfig(dir.options()), config)
  })

  it('hide secrets', () => {
    const dir = makeConfigFolder()
    const word = 'very-secret-text-of-thirty-two-and-more'
    writeFileSync(
      dir.file,
      `secret = '${word}'\nsecret_previous = '${word}'\n[delivery.relay]\nhost = 'a.example'
username = 'u'\npassword = '${word}'\n[billing]\nstripe_secret_key = '${word}'
stripe_webhook_secret = '${word}'\nstripe_price = 'p'\nstripe_meter_event = 'emails'\n`,
    )
    const { values, origins } = loadSettings(dir.options())
    const text = formatEffective(values, origins)
    assert.ok(!text.includes(word))
    assert.equal(text.match(/"\(hidden\)"/g)?.length, 5)
  })
})
