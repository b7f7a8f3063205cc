import assert from 'node:assert/strict'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, it } from 'node:test'
import { parse } from 'smol-toml'
import { makeFolder } from '../config/config-folder.ts'
import { makeCertificate } from '../fakes/certificate.ts'
import { runAt } from '../fakes/terminal.ts'
import { placeDatabase } from './commands-at.ts'

const skip = process.platform === 'win32' ? 'Windows has no file modes' : false

describe('pillarbox init', () => {
  it('writes a valid file and never overwrites one', async () => {
    const cwd = makeFolder()
    const file = path.join(cwd, 'pillarbox.toml')
    const argv = ['init', '--hostname', 'Mail.example.com', '--base-url', 'https://m.example.com/']
    const first = await runAt({ cwd }, ...argv, '--json')
    assert.equal(first.status, 0)
    assert.deepEqual(JSON.parse(first.out), { file })
    const written = readFileSync(file, 'utf8')
    assert.match(written, /^hostname = "mail.example.com"$/m)
    assert.match(written, /^base_url = "https:\/\/m.example.com"$/m)

    const second = await runAt({ cwd }, 'init')
    assert.equal(second.status, 1)
    assert.match(second.err, /already exists and was not changed/)
    assert.equal(readFileSync(file, 'utf8'), written)
    assert.equal((await runAt({ cwd }, 'config', 'check')).status, 0)
  })

  it('writes the keys of its options uncommented', async () => {
    const cwd = makeFolder()
    const hosts = ['--hostname', 'mail.example.com', '--base-url', 'https://mail.example.com']
    const services = ['--inbound', '--submission', '--mode', 'Direct', '--data-dir', '/var/lib/p']
    const { status, out } = await runAt({ cwd }, 'init', ...hosts, ...services)
    assert.equal(status, 0)
    assert.match(out, /Put the certificate into \S+cert\.pem\.\nPut its key into \S+key\.pem\./)
    const written = readFileSync(path.join(cwd, 'pillarbox.toml'), 'utf8')
    const inUse = written.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
    assert.deepEqual(
      inUse.filter((line) => !line.startsWith('[')),
      [
        'base_url = "https://mail.example.com"',
        'data_dir = "/var/lib/p"',
        'mode = "direct"',
        'hostname = "mail.example.com"',
        'listen = [ "0.0.0.0:25" ]',
        'tls_cert = "cert.pem"',
        'tls_key = "key.pem"',
        'listen = [ "0.0.0.0:587", "tls://0.0.0.0:465" ]',
      ],
    )
    const { status: checked, err } = await runAt({ cwd }, 'config', 'check')
    assert.equal(checked, 2)
    assert.match(err, /inbound\.tls_cert: found ENOENT/)
  })

  it('writes a certificate for submission without --inbound', async () => {
    const cwd = makeFolder()
    await runAt({ cwd }, 'init', '--submission')
    const { submission } = parse(readFileSync(path.join(cwd, 'pillarbox.toml'), 'utf8'))
    const listen = ['0.0.0.0:587', 'tls://0.0.0.0:465']
    assert.deepEqual(
      { ...Object(submission) },
      { listen, tls_cert: 'cert.pem', tls_key: 'key.pem' },
    )
  })

  it('writes the file that --config names, readable by its owner only', { skip }, async () => {
    const cwd = makeFolder()
    const { out } = await runAt({ cwd }, '--config', 'other.toml', 'init')
    assert.match(out, /other\.toml was written/)
    assert.equal(statSync(path.join(cwd, 'other.toml')).mode & 0o777, 0o600)
    const { status, err } = await runAt({ cwd }, '--config', 'no/such.toml', 'init')
    assert.equal(status, 2)
    assert.match(err, /the folder \S+no does not exist/)
  })
})

describe('pillarbox config', () => {
  it('warns when accounts.mail_project cannot send', async () => {
    const cwd = makeFolder()
    await placeDatabase(cwd)
    const owner = 'ada@example.com'
    await runAt({ cwd }, 'user', 'create', '--email', owner, '--password', 'secret 1')
    const { out } = await runAt(
      { cwd },
      ...['project', 'create', '--name', 'Mail', '--owner', owner, '--json'],
    )
    const { id } = JSON.parse(out)
    const warningsOf = async (env: Record<string, string>) => {
      const checked = await runAt({ cwd, env }, 'config', 'check', '--json')
      return JSON.parse(checked.out).warnings as string[]
    }
    const project = { PILLARBOX_ACCOUNTS__MAIL_PROJECT: id }
    const consequence = 'so the server cannot send mail to its users.'
    const withoutDomain = `The project "Mail" of accounts.mail_project has no verified domain, ${consequence}`
    assert.ok((await warningsOf(project)).includes(withoutDomain))
    const unknown = { PILLARBOX_ACCOUNTS__MAIL_PROJECT: '0199a7c0-0000-7000-8000-0000000000ff' }
    const noProject = `accounts.mail_project names no project, ${consequence}`
    assert.ok((await warningsOf(unknown)).includes(noProject))
    await runAt({ cwd }, 'domain', 'add', '--project', id, 'example.com')
    await runAt({ cwd }, 'domain', 'verify', 'example.com', '--trust')
    assert.doesNotMatch((await warningsOf(project)).join(), /mail_project/)
    const from = { ...project, PILLARBOX_ACCOUNTS__MAIL_FROM: 'a@other.example' }
    const notVerified = 'other.example, the domain of accounts.mail_from, is not verified'
    assert.match((await warningsOf(from)).join(), new RegExp(notVerified))
  })

  it('check confirms a valid configuration and prints warnings', async () => {
    const cwd = makeFolder()
    const file = path.join(cwd, 'pillarbox.toml')
    writeFileSync(file, "[delivery]\nmode = 'direct'\nhostname = 'mail.example.com'\n", {
      mode: 0o600,
    })
    const { status, out } = await runAt({ cwd }, 'config', 'check', '--json')
    assert.equal(status, 0)
    const { file: checked, warnings } = JSON.parse(out)
    assert.equal(checked, file)
    assert.equal(warnings.length, 1)
    const { out: text } = await runAt({ cwd }, 'config', 'check')
    assert.match(text, /is valid\.\nWarning: base_url is http:\/\/localhost:8080/)
  })

  it('check warns about an expired certificate and a wrong name, and refuses a wrong key', async () => {
    const cwd = makeFolder()
    const day = 86_400_000
    const dates = { validFrom: Date.now() - 9 * day, validTo: Date.now() - day }
    const { cert, key } = makeCertificate(['mail.example.com'], dates)
    writeFileSync(path.join(cwd, 'cert.pem'), cert)
    writeFileSync(path.join(cwd, 'key.pem'), key)
    const env = {
      PILLARBOX_BASE_URL: 'https://app.example.com',
      PILLARBOX_HTTP__TLS_CERT: 'cert.pem',
      PILLARBOX_HTTP__TLS_KEY: 'key.pem',
    }
    const { status, out } = await runAt({ cwd, env }, 'config', 'check', '--json')
    const file = path.join(cwd, 'cert.pem')
    assert.equal(status, 0)
    const [expired, named] = JSON.parse(out).warnings
    assert.ok(expired.startsWith(`The certificate ${file} of http expired at `), expired)
    assert.equal(
      named,
      `The certificate ${file} of http is not for app.example.com but for DNS:mail.example.com.`,
    )
    writeFileSync(path.join(cwd, 'key.pem'), makeCertificate().key)
    const broken = await runAt({ cwd, env }, 'config', 'check')
    assert.equal(broken.status, 2)
    assert.match(broken.err, /http\.tls_cert.*found the key does not belong to the certificate/)
  })

  it('check names a section that the file defines twice', async () => {
    const cwd = makeFolder()
    const text = '[delivery]\nport = 25\n\n[delivery]\nmode = "direct"\n'
    writeFileSync(path.join(cwd, 'pillarbox.toml'), text)
    const { status, err } = await runAt({ cwd }, 'config', 'check')
    assert.equal(status, 2)
    assert.match(err, /line 4.*is defined twice; keep one/)
  })

  it('show prints effective values with secrets hidden', async () => {
    const cwd = makeFolder()
    const word = 'x'.repeat(40)
    const env = { PILLARBOX_SECRET: word, PILLARBOX_LIMITS__EMAILS_PER_SECOND: '7' }
    const { out } = await runAt({ cwd, env }, 'config', 'show', '--json')
    const { file, values } = JSON.parse(out)
    assert.equal(file, null)
    assert.equal(values.secret, '(hidden)')
    assert.equal(values.limits.emails_per_second, 7)
    assert.equal(values.delivery.give_up_after.campaign, '3d')
    assert.equal(values.delivery.relay.host, null)
    const { out: text } = await runAt({ cwd, env }, 'config', 'show')
    assert.match(text, /^secret = "\(hidden\)" {2}# PILLARBOX_SECRET$/m)
    assert.ok(!(out + text).includes(word))
  })
})
