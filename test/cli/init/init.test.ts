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
const direct = ['mail.example.com', '', 'direct', 'y', '']
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
    assert.match(out, /Next: pillarbox config check && pillarbox systemd --install/)
    for (const text of [out, err, readFileSync(file, 'utf8')]) assert.doesNotMatch(text, /secret w/)
  })

  it('asks again after a wrong answer, with the reason', async () => {
    const cwd = makeFolder()
    const wrong = [
      'not a host',
      'mail.example.com',
      'nowhere',
      '',
      'dir',
      'direct',
      'maybe',
      'n',
      '',
    ]
    const { status, err } = await answer(cwd, await answersFor(...wrong))
    assert.equal(status, 0, err)
    for (const reason of [
      /Expected a host name\./,
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
      'mail.example.com',
      '',
      'relay',
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

  it('serves HTTPS with certificates of an ACME authority', async () => {
    const cwd = makeFolder()
    const { isSettingKey } = await import('../../../src/config/settings.ts')
    const backup = isSettingKey('backup.dir') ? [''] : []
    const typed = enter(...direct, ...backup, 'nobody', 'ops@example.com', '', ...user)
    const { status, out, err } = await answer(cwd, typed)
    assert.equal(status, 0, err)
    const { acme, http } = loadConfig({ cwd, env: {} })
    assert.deepEqual([acme?.email, http.listen.port], ['ops@example.com', 443])
    assert.match(out, /Ports to open: in 443, 80, 25; out 25/)
    assert.doesNotMatch(out, /with a proxy/)
  })

  it('leaves nothing behind after Ctrl-C and Ctrl-D', async () => {
    for (const end of ['\x03', '\x04']) {
      for (const typed of [end, enter('mail.example.com', '') + end, enter(...direct) + end]) {
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
    terminal.stdin.write(enter('mail.example.com', '', 'direct', 'y', ...folders, '', ...user))
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

it('init asks scripts nothing', async () => {
  const cwd = makeFolder()
  for (const [at, argv] of [['--yes'], ['--mode', 'direct']].entries()) {
    const terminal = makeTerminal({ cwd, isTTY: true })
    Object.assign(terminal.stdout, { isTTY: true })
    const status = await runCli(['--config', `${at}.toml`, 'init', ...argv], terminal)
    assert.equal(status, 0, terminal.err())
    assert.equal(terminal.err(), '')
    assert.ok(existsSync(path.join(cwd, `${at}.toml`)))
  }
})
