import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, it } from 'node:test'
import { runCli } from '../../../src/cli/cli.ts'
import { askSettings } from '../../../src/cli/init/ask-settings.ts'
import { loadConfig } from '../../../src/config/load.ts'
import { makeFolder } from '../../config/config-folder.ts'
import { makeTerminal, runAt } from '../../fakes/terminal.ts'

/** Runs `init` at a terminal where someone types these answers, each with Enter. */
async function answer(cwd: string, typed: string, ...argv: string[]) {
  const terminal = makeTerminal({ cwd, isTTY: true })
  Object.assign(terminal.stdout, { isTTY: true })
  terminal.stdin.write(typed)
  const status = await runCli([...argv, 'init'], terminal)
  return { status, out: terminal.out(), err: terminal.err() }
}

const enter = (...answers: string[]) => answers.map((each) => `${each}\r`).join('')
const direct = ['direct', 'mail.example.com', '', 'y', '']
const user = ['ops@example.com', 'secret word', 'secret word']
/** For the questions of keys that other parts of the program bring: none is wanted. */
const skipped = ['backup.dir', 'acme.email'].map(() => '')

/** The answers, with an empty one for each optional question of this version. */
async function answersFor(...answers: string[]): Promise<string> {
  const { isSettingKey } = await import('../../../src/config/settings.ts')
  const optional = skipped.filter((_, at) => isSettingKey(['backup.dir', 'acme.email'][at] ?? ''))
  return enter(...answers, ...optional, ...user)
}

describe('init at a terminal', () => {
  it('writes the file, creates the first operator, and says what is next', async () => {
    const cwd = makeFolder()
    const { status, out, err } = await answer(cwd, await answersFor(...direct))
    assert.equal(status, 0, err)
    const file = path.join(cwd, 'pillarbox.toml')
    const config = loadConfig({ cwd, env: {} })
    assert.equal(config.delivery.hostname, 'mail.example.com')
    assert.equal(config.delivery.mode, 'direct')
    assert.equal(config.baseUrl, 'https://mail.example.com')
    assert.deepEqual(
      config.inbound.listen.map(({ port }) => port),
      [25],
    )
    assert.equal(statSync(file).mode & 0o777, 0o600)
    assert.match(readFileSync(file, 'utf8'), /# Folder of the database/)
    const users = JSON.parse((await runAt({ cwd }, 'user', 'list', '--json')).out)
    assert.deepEqual(
      users.map(({ email, isOperator }: Record<string, unknown>) => [email, isOperator]),
      [['ops@example.com', true]],
    )
    assert.match(out, /^bounce\.mail\.example\.com +MX +10 mail\.example\.com$/m)
    assert.match(out, /Ports to open: in 443, 25; out 25/)
    assert.match(out, /\.toml was written\.\nops@example\.com is the first operator\.\n\n/)
    assert.match(
      out,
      /\n\nNext: pillarbox config check && pillarbox systemd --install\nOn a system without systemd, the last command is pillarbox serve\.\n$/,
    )
    for (const text of [out, err, readFileSync(file, 'utf8')]) assert.doesNotMatch(text, /secret w/)
  })

  it('asks again after a wrong answer, with the reason', async () => {
    const cwd = makeFolder()
    writeFileSync(path.join(cwd, 'taken'), '')
    const wrong = [
      ...['dir', 'direct'],
      ...['not a host', 'mail', 'mail.example.com'],
      ...['nowhere', ''],
      ...['maybe', 'n'],
      ...['taken', 'taken/data', 'data'],
    ]
    const { status, err } = await answer(cwd, await answersFor(...wrong))
    assert.equal(status, 0, err)
    for (const reason of [
      /Expected a host name\./,
      / {2}Expected a name with a dot, since direct delivery presents it to other servers\.\n/,
      / {2}Expected a folder: \S+\/taken is a file\.\n.* {2}Expected a folder: \S+\/taken is a file\.\n/,
      /Expected an address such as "https/,
      /Expected one of sandbox, direct, relay\./,
      /Expected y or n\./,
    ])
      assert.match(err, reason)
    assert.deepEqual(loadConfig({ cwd, env: {} }).inbound.listen, [])
  })

  it('asks for the smarthost in relay mode', async () => {
    const cwd = makeFolder()
    const relay = [
      'relay',
      'mail.example.com',
      '',
      'smtp.example.net',
      'implicit',
      '',
      'me',
      'pass',
      '',
    ]
    const { status, out, err } = await answer(cwd, await answersFor(...relay))
    assert.equal(status, 0, err)
    const { relay: found } = loadConfig({ cwd, env: {} }).delivery
    assert.deepEqual(
      [found?.host, found?.port, found?.tls, found?.username, found?.password],
      ['smtp.example.net', 465, 'implicit', 'me', 'pass'],
    )
    assert.doesNotMatch(out + err, /pass\b(?!word)/)
  })

  it('takes a smarthost without a password, and refuses to send a password in clear', async () => {
    const cwd = makeFolder()
    const smarthost = ['bad port.example', 'smtp.example.net', 'tls', 'none', '0', '', 'me', '']
    const relay = ['relay', 'mail', 'http://mail.example.com', ...smarthost, '']
    const { status, err } = await answer(cwd, enter(...relay, '', ...user))
    assert.equal(status, 0, err)
    for (const reason of [
      /Expected one of starttls, implicit, none\./,
      /Expected an integer from 1 to 65535\./,
      / {2}delivery\.relay\.tls: expected starttls or implicit, since the password would reach smtp/,
    ])
      assert.match(err, reason)
    const { hostname, relay: found } = loadConfig({ cwd, env: {} }).delivery
    assert.deepEqual([hostname, found?.port, found?.username], ['mail', 25, null])
  })

  it('refuses certificates for a name that no authority certifies', async () => {
    const cwd = makeFolder()
    const sandbox = ['sandbox', 'localhost', 'https://localhost', '', '', 'ops@example.com', '']
    const { status, out, err } = await answer(cwd, enter(...sandbox, ...user))
    assert.equal(status, 0, err)
    assert.match(err, / {2}acme\.domains: expected a public host name/)
    assert.match(out, /\n\nNext: pillarbox config check && pillarbox serve\n$/)
  })

  it('serves HTTPS with certificates of an ACME authority', async () => {
    const cwd = makeFolder()
    const { isSettingKey } = await import('../../../src/config/settings.ts')
    const backup = isSettingKey('backup.dir') ? [''] : []
    const wrongUsers = ['', 'nobody', 'ops@example.com', 'short']
    const typed = enter(
      ...[...direct, ...backup, 'nobody', 'ops@example.com', ''],
      ...[...wrongUsers, ...user.slice(1)],
    )
    const { status, out, err } = await answer(cwd, typed)
    assert.equal(err.match(/ {2}Expected an email address\.\n/g)?.length, 2, err)
    assert.match(err, / {2}Expected a password of 6 to 1000 characters\.\n/)
    assert.match(out, /; out 25 \(mail\), 53 \(DNS\), 443 \(certificates\)\.$/m)
    assert.equal(status, 0, err)
    const { acme, http } = loadConfig({ cwd, env: {} })
    assert.deepEqual([acme?.email, http.listen.port], ['ops@example.com', 443])
    assert.match(out, /Ports to open: in 443, 80, 25; out 25/)
    assert.doesNotMatch(out, /with a proxy/)
  })

  it('leaves nothing behind after Ctrl-C and Ctrl-D', async () => {
    for (const end of ['\x03', '\x04']) {
      for (const typed of [
        end,
        enter('direct', 'mail.example.com') + end,
        enter(...direct) + end,
      ]) {
        const cwd = makeFolder()
        const { status, err } = await answer(cwd, typed)
        assert.equal(status, 1)
        assert.match(err, /nothing was written\.\n$/)
        assert.deepEqual(readdirSync(cwd), [])
      }
    }
  })

  it('asks nothing when the file exists, or its folder does not', async () => {
    const cwd = makeFolder()
    writeFileSync(path.join(cwd, 'pillarbox.toml'), 'mine = true\n')
    const { status, err } = await answer(cwd, '')
    assert.equal(status, 1)
    assert.match(err, /already exists and was not changed/)
    assert.doesNotMatch(err, /Host name/)
    const missing = await answer(cwd, '', '--config', 'none/pillarbox.toml')
    assert.equal(missing.status, 2)
  })
})

it('init proposes the folders of the service for the file of the service only', async () => {
  const proposals = async (file: string, ...folders: string[]) => {
    const terminal = makeTerminal({ cwd: makeFolder(), isTTY: true })
    terminal.stdin.write(enter(...direct.slice(0, 4), ...folders, '', ...user))
    return (await askSettings(terminal, file)).given
  }
  const service = '/etc/pillarbox/pillarbox.toml'
  const proposed = await proposals(service, '', '')
  assert.equal(proposed.data_dir, '/var/lib/pillarbox')
  assert.equal(proposed['backup.dir'], '/var/backups/pillarbox')
  assert.equal(proposed['backup.every'], '1d')
  const none = await proposals(service, '', 'none')
  assert.ok(!('backup.dir' in none) && !('backup.every' in none))
  const other = await proposals('/srv/pillarbox.toml', '', '')
  assert.equal(other.data_dir, 'data')
  assert.ok(!('backup.dir' in other) && !('backup.every' in other))
})

describe('init with options', () => {
  it('sets up a server without an editor', async () => {
    const cwd = makeFolder()
    writeFileSync(path.join(cwd, 'relay-password'), 'pass\n')
    const argv = [
      ...['--mode', 'relay', '--hostname', 'mail.example.com', '--relay-host', 'smtp.example.net'],
      ...['--base-url', 'https://mail.example.com', '--relay-tls', 'implicit', '--https'],
      ...['--relay-username', 'me', '--relay-password-file', 'relay-password', '--submission'],
      ...['--acme-email', 'ops@example.com', '--backup-dir', 'backups', '--data-dir', 'data'],
      ...['--user', 'ops@example.com', '--password-stdin'],
    ]
    const place = { cwd, input: 'secret word\n' }
    const { status, out, err } = await runAt(place, '--config', 'new.toml', 'init', ...argv)
    assert.deepEqual([status, err], [0, ''])
    const { delivery, acme, backup, http, submission } = loadConfig({
      ...{ cwd, configPath: 'new.toml', env: {} },
    })
    const { host, port, tls, username, password } = delivery.relay ?? {}
    assert.deepEqual(
      [host, port, tls, username, password],
      ['smtp.example.net', 465, 'implicit', 'me', 'pass'],
    )
    assert.deepEqual([acme?.email, http.listen.port], ['ops@example.com', 443])
    assert.deepEqual([backup.everyMs, backup.dir], [86_400_000, path.join(cwd, 'backups')])
    assert.equal(submission.tls?.isOrdered, true)
    assert.match(out, /^ops@example\.com is the first operator\.$/m)
    const call = 'pillarbox --config new.toml'
    assert.ok(
      out.endsWith(
        `\n\nNext: ${call} config check && ${call} systemd --install\nOn a system without systemd, the last command is ${call} serve.\n`,
      ),
      out,
    )
    assert.match(out, /^mail\.example\.com +A /m)
    assert.match(out, /^Ports to open: in 443, 80, 587, 465; out 465/m)
    assert.doesNotMatch(out + err, /secret word|Set |Put the cert/)
    const checked = await runAt({ cwd }, '--config', 'new.toml', 'config', 'check')
    assert.equal(checked.status, 0, checked.err)
    const users = await runAt({ cwd }, '--config', 'new.toml', 'user', 'list', '--json')
    assert.equal(JSON.parse(users.out)[0].isOperator, true)
  })

  it('names what the options leave to do, which a check refuses', async () => {
    const cwd = makeFolder()
    const argv = ['--mode', 'direct', '--hostname', 'mail.example.com', '--submission']
    const first = await runAt({ cwd }, 'init', ...argv)
    assert.equal(first.status, 0, first.err)
    const [cert, key] = ['cert.pem', 'key.pem'].map((name) => path.join(cwd, name))
    assert.ok(
      first.out.includes(`\nPut the certificate into ${cert}.\nPut its key into ${key}.\n`),
      first.out,
    )
    const check = await runAt({ cwd }, 'config', 'check')
    assert.equal(check.status, 2)
    assert.match(first.out, /^bounce\.mail\.example\.com +MX +10 mail\.example\.com$/m)
    assert.match(
      first.out,
      /\n\nNext: pillarbox config check && pillarbox systemd --install\nOn a system without systemd, the last command is pillarbox serve\.\n$/,
    )
    assert.match(check.err, /submission\.tls_cert: found ENOENT/)
    for (const file of [cert, key]) writeFileSync(file ?? '', '')
    const again = await runAt({ cwd }, '--config', 'again.toml', 'init', ...argv)
    assert.equal(again.status, 0, again.err)
    assert.doesNotMatch(again.out, /Put /)
  })

  it('makes the password of the first user, and prints it once', async () => {
    const cwd = makeFolder()
    const { status, out } = await runAt({ cwd }, 'init', '--user', 'ops@example.com', '--json')
    assert.equal(status, 0)
    const { user: made, file } = JSON.parse(out)
    assert.equal(file, path.join(cwd, 'pillarbox.toml'))
    assert.deepEqual(Object.keys(made), ['email', 'password'])
  })

  it('refuses what a check would refuse, before it writes', async () => {
    const cwd = makeFolder()
    const relay = ['--mode', 'relay', '--relay-host', 'smtp.example.net']
    for (const [argv, said] of [
      [['--mode', 'direct', '--hostname', 'localhost'], /delivery\.hostname: found "localhost"/],
      [
        [...relay, '--relay-username', 'me', '--relay-password-file', 'none'],
        /delivery\.relay\.password_file: found ENOENT/,
      ],
      [['--mode', 'relay', '--user', 'a@b.example'], /delivery\.relay\.host/],
      [
        ['--mode', 'relay'],
        /delivery\.relay\.host: found nothing, .*; the option is --relay-host\n/,
      ],
      [[...relay, '--relay-username', 'me'], /the option is --relay-password-file\n/],
      [['--relay-host', 'smtp.example.net'], /--relay-host needs --mode relay/],
      [['--mode', 'direct', '--relay-tls', 'none'], /--relay-tls needs --mode relay/],
      [['--acme-email', 'a@b.example', '--hostname', 'mail'], /acme\.domains: found/],
      [['--user', 'nobody'], /--user: expected an email address/],
      [['--user', 'a@b.example', '--password', 'short'], /at least 6 characters/],
      [['--password', 'secret word'], /belong to --user/],
      [['--relay-port', '0'], /--relay-port: expected/],
      // Without an order there is no certificate, and port 443 would serve plain HTTP.
      [['--https'], /--https needs --acme-email/],
      [['--https', '--submission', '--inbound'], /--https needs --acme-email/],
    ] as const) {
      const { status, err } = await runAt({ cwd }, 'init', ...argv)
      assert.equal(status, 2, argv.join(' ') + err)
      assert.match(err, said)
      assert.deepEqual(readdirSync(cwd), [])
    }
  })
})

it('init with --https but without an address names the port that it serves', async () => {
  const argv = ['--mode', 'direct', '--hostname', 'mail.example.com', '--inbound']
  const https = ['--acme-email', 'a@b.example', '--https']
  const { out } = await runAt({ cwd: makeFolder() }, 'init', ...argv, ...https)
  assert.match(out, /^Set base_url to the public address of the API\.$/m)
  assert.match(out, /^Ports to open: in 443, 80, 25; out 25/m)
})

it('init asks scripts nothing', async () => {
  const cwd = makeFolder()
  for (const [at, argv] of [['--yes'], ['--mode', 'sandbox']].entries()) {
    const terminal = makeTerminal({ cwd, isTTY: true })
    Object.assign(terminal.stdout, { isTTY: true })
    const status = await runCli(['--config', `${at}.toml`, 'init', ...argv], terminal)
    assert.equal(status, 0, terminal.err())
    assert.equal(terminal.err(), '')
    assert.ok(existsSync(path.join(cwd, `${at}.toml`)))
  }
})

describe('init where the system has a configuration', () => {
  it('is refused without options, and says that its file hides the other one', async () => {
    const [cwd, etc] = [makeFolder(), makeFolder()]
    const [file, systemFile] = [path.join(cwd, 'pillarbox.toml'), path.join(etc, 'pillarbox.toml')]
    writeFileSync(systemFile, '')
    const refused = await runAt({ cwd, systemFile }, 'init')
    assert.equal(refused.status, 2)
    assert.ok(refused.err.includes(`${systemFile} exists, and ${file} would hide it`), refused.err)
    assert.match(refused.err, /give --config FILE/)
    assert.equal(existsSync(file), false)
    const note = `${systemFile} exists. From now on, commands in this folder use ${file}; for the service, give them --config ${systemFile}\n`
    const given = await runAt({ cwd, systemFile }, 'init', '--base-url', 'https://a.example')
    assert.equal(given.status, 0, given.err)
    assert.ok(given.out.includes(note), given.out)
    const named = await runAt({ cwd, systemFile }, '--config', 'other.toml', 'init')
    assert.equal(named.status, 0, named.err)
    assert.doesNotMatch(named.out, /From now on/)
    const terminal = makeTerminal({ cwd: makeFolder(), isTTY: true, systemFile })
    Object.assign(terminal.stdout, { isTTY: true })
    terminal.stdin.write(await answersFor(...direct))
    assert.equal(await runCli(['init'], terminal), 0, terminal.err())
    assert.match(terminal.err(), /exists\. From now on, commands in this folder use /)
  })
})

describe('init for the service', () => {
  it('before the folder of its configuration is there says what makes it', async () => {
    const cwd = makeFolder()
    const systemFile = path.join(cwd, 'etc', 'pillarbox.toml')
    const initAt = async (file: string) =>
      (await runAt({ cwd, systemFile }, '--config', file, 'init', '--mode', 'sandbox')).err
    const own = await initAt(systemFile)
    assert.match(own, /etc does not exist; pillarbox .*systemd --install makes it\n/)
    const other = await initAt(path.join(cwd, 'other', 'pillarbox.toml'))
    assert.match(other, /other does not exist\n/)
  })
})
