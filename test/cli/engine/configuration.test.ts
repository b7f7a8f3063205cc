/** The configuration of a command: found once, by the user who gave the command. */
import assert from 'node:assert/strict'
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { findConfiguration } from '../../../src/cli/engine/configuration.ts'
import { makeFolder } from '../../config/config-folder.ts'
import { makeCertificate } from '../../fakes/certificate.ts'
import { makeTerminal, runAt } from '../../fakes/terminal.ts'
import { makeServer, pillarbox, STRANGER, skipOther } from './other-owner.ts'

const ROOT = path.join(import.meta.dirname, '../../..')

test('only one file of the commands loads a configuration that is looked for', () => {
  const folder = path.join(ROOT, 'src/cli')
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  const loading = files.filter((name) => {
    if (!name.endsWith('.ts')) return false
    const text = readFileSync(path.join(folder, name), 'utf8')
    return /\b(loadSettings|loadConfig|readConfigFile)\(/.test(text)
  })
  // `restore --to` names no file: its folder is the whole configuration.
  assert.deepEqual(loading.sort(), ['engine/configuration.ts', 'restore.ts'])
  const restore = readFileSync(path.join(folder, 'restore.ts'), 'utf8')
  assert.match(restore, /loadConfig\(\{ cwd: folder, configPath: null, env \}\)/)
})

test('a file that appears, or goes, after the first load is not looked for again', async () => {
  const cwd = makeFolder()
  const without = findConfiguration({ terminal: makeTerminal({ cwd }), configPath: undefined })
  const { config } = await without.load()
  const file = path.join(cwd, 'pillarbox.toml')
  writeFileSync(file, "data_dir = 'other'\n")
  assert.equal((await without.load()).config, config)
  assert.equal((await without.check()).config.file, config.file)
  const found = findConfiguration({ terminal: makeTerminal({ cwd }), configPath: undefined })
  assert.equal((await found.load()).config.file, file)
  rmSync(file)
  assert.equal((await found.load()).config.dataDir, path.join(cwd, 'other'))
  await assert.rejects(found.check(), { code: 'INVALID_CONFIGURATION' })
})

test('commands of root work in a home that the owner of the files cannot enter', {
  skip: skipOther,
}, () => {
  const { home, file, data } = makeServer()
  const copy = path.join(data, 'copy.tar.zst')
  for (const argv of [
    ['config', 'check'],
    ['config', 'show'],
    ['user', 'create', '--email', 'ann@example.test'],
    ['backup', copy],
  ]) {
    const { status, out, err } = pillarbox({ cwd: home }, '--config', file, ...argv)
    assert.equal(status, 0, argv.join(' ') + err)
    assert.doesNotMatch(out, /EACCES|no record/)
  }
  assert.ok(existsSync(copy))
  const env = { PILLARBOX_DATA_DIR: data }
  for (const argv of [
    ['config', 'check'],
    ['user', 'list'],
  ]) {
    const { status, err } = pillarbox({ cwd: home, env }, ...argv)
    assert.equal(status, 0, argv.join(' ') + err)
  }
})

test('what the owner of the files cannot write is named, with what to do', {
  skip: skipOther,
}, () => {
  const { home, file } = makeServer()
  const target = path.join(home, 'copy.tar.zst')
  const backup = pillarbox({ cwd: home }, '--config', file, 'user', 'list')
  assert.equal(backup.status, 0, backup.err)
  const made = pillarbox({ cwd: home }, '--config', file, 'backup', target)
  assert.equal(made.status, 1)
  assert.match(made.err, new RegExp(`The user nobody cannot write to ${home}\\.`))
  const advised = `(umask 077; pillarbox --config ${file} backup - > ${target})`
  assert.ok(made.err.includes(`Use "${advised}"`), made.err)
  const argv = ['export', '--project', '0199a7c0-0000-7000-8000-0000000000ff']
  const exported = pillarbox({ cwd: home }, '--config', file, ...argv)
  assert.equal(exported.status, 1)
  assert.match(exported.err, new RegExp(`The user nobody cannot write to ${home}\\.\\n.*--to`))
  assert.deepEqual(readdirSync(home), [])
})

test('a key that only root can read is refused with the command that mends it', {
  skip: skipOther,
}, () => {
  for (const [uid, user, name] of [
    [STRANGER, 'nobody', 'nobody'],
    // As in a container, whose users have no names.
    [10_001, 'number 10001', '10001'],
  ] as const) {
    const keys = ['[http]', 'tls_cert = "cert.pem"', 'tls_key = "key.pem"']
    const { home, file, etc } = makeServer(keys, uid)
    const { cert, key } = makeCertificate()
    writeFileSync(path.join(etc, 'cert.pem'), cert, { mode: 0o644 })
    writeFileSync(path.join(etc, 'key.pem'), key, { mode: 0o600 })
    const { status, err } = pillarbox({ cwd: home }, '--config', file, 'config', 'check')
    assert.equal(status, 2)
    const named = `http.tls_key: found a file that the user ${user} cannot read, expected a readable PEM file; run chown ${name} ${etc}/key.pem`
    assert.ok(err.includes(named), err)
  }
})

test('a key in a folder of root is refused with its name, the user and a remedy, by serve too', {
  skip: skipOther,
}, () => {
  const closed = makeFolder()
  const place = path.join(closed, 'key.pem')
  const keys = ['[http]', 'tls_cert = "cert.pem"', `tls_key = ${JSON.stringify(place)}`]
  const { file, etc } = makeServer(keys)
  const { cert, key } = makeCertificate()
  writeFileSync(path.join(etc, 'cert.pem'), cert, { mode: 0o644 })
  writeFileSync(place, key, { mode: 0o600 })
  const named = `http.tls_key: found a place in ${closed}, which the user nobody cannot enter, expected a readable PEM file; copy ${place} to a folder that this user can enter, and make this user the copy's owner\n`
  const asService = { cwd: '/', uid: STRANGER }
  for (const [who, command] of [
    [asService, ['serve']],
    [{ cwd: '/' }, ['config', 'check']],
  ] as const) {
    const { status, err } = pillarbox(who, '--config', file, ...command)
    assert.equal(status, 2, err)
    assert.ok(err.includes(named), err)
  }
})

test('another user is told whose command it is', { skip: skipOther }, () => {
  const { file, etc, data } = makeServer()
  const other = { cwd: '/', uid: 65_432 }
  const queue = pillarbox(other, '--config', file, 'queue', 'list')
  assert.equal(queue.status, 2)
  assert.match(queue.err, new RegExp(`found a place in ${etc}, which the user number 65432 cannot`))
  assert.match(queue.err, /; run it as root or as nobody\n/)
  chmodSync(etc, 0o755)
  chmodSync(file, 0o644)
  for (const argv of [
    ['queue', 'list'],
    ['backup', '-'],
  ]) {
    const { status, err } = pillarbox(other, '--config', file, ...argv)
    assert.equal(status, 1, err)
    assert.match(err, new RegExp(`The user number 65432 cannot use ${data}\\.`))
    assert.match(err, /^Run it as root or as nobody\.$/m)
  }
})

test('commands that need no certificate work without it, and those that do name it', async () => {
  const cwd = makeFolder()
  const place = {
    cwd,
    env: {
      PILLARBOX_SUBMISSION__LISTEN: 'tls://127.0.0.1:1',
      PILLARBOX_SUBMISSION__TLS_CERT: 'gone.pem',
      PILLARBOX_SUBMISSION__TLS_KEY: 'gone.key',
      PILLARBOX_BACKUP__MIN_FREE_BYTES: '0',
    },
  }
  for (const argv of [
    ['user', 'list'],
    ['queue', 'list'],
    ['queue', 'holds'],
    ['queue', 'hold', '--domain', 'dest.test'],
    ['queue', 'release', '--domain', 'dest.test'],
    ['queue', 'sites'],
    ['suppressions', 'list'],
    ['domain', 'list'],
    ['sandbox', 'list'],
    ['config', 'show'],
    ['backup', path.join(cwd, 'copy.tar.zst')],
  ]) {
    const { status, err } = await runAt(place, ...argv)
    assert.equal(status, 0, argv.join(' ') + err)
  }
  for (const argv of [['serve'], ['config', 'check']]) {
    const { status, err } = await runAt(place, ...argv)
    assert.equal(status, 2, argv.join(' '))
    assert.match(err, /submission\.tls_cert: found ENOENT/)
  }
  const { status, out } = await runAt(place, 'doctor', '--json')
  assert.equal(status, 1)
  const { checks } = JSON.parse(out)
  const certificates = checks.find(({ id }: { id: string }) => id === 'certificates')
  assert.equal(certificates.status, 'failed')
  assert.match(certificates.evidence, /submission: ENOENT/)
})

test('a missing file of --config is answered with the command that writes it', async () => {
  const cwd = makeFolder()
  const { status, err } = await runAt({ cwd }, '--config', 'new.toml', 'serve')
  assert.equal(status, 2)
  assert.ok(err.includes(`run pillarbox --config ${cwd}/new.toml init to write it`), err)
  assert.equal((await runAt({ cwd }, 'config', 'check')).status, 0)
  const spaced = await runAt({ cwd }, '--config', 'my new.toml', 'serve')
  assert.ok(spaced.err.includes(`run pillarbox --config '${cwd}/my new.toml' init`), spaced.err)
  const broken = await runAt({ cwd }, '--config', 'a\nb.toml', 'serve')
  assert.ok(broken.err.includes(`run pillarbox --config $'${cwd}/a\\012b.toml' init`), broken.err)
})

test('backup refuses to write an archive to a terminal', async () => {
  const cwd = makeFolder()
  const terminal = makeTerminal({ cwd, isTTY: true })
  terminal.stdout.isTTY = true
  const { runCli } = await import('../../../src/cli/cli.ts')
  assert.equal(await runCli(['backup', '-'], terminal), 2)
  assert.match(
    terminal.err(),
    /standard output is a terminal: write "\(umask 077; pillarbox backup - > FILE\)"/,
  )
  assert.equal(terminal.out(), '')
  assert.equal(existsSync(path.join(cwd, 'data')), false)
})
