import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { describe, it } from 'node:test'
import { runCli } from '../../src/cli/cli.ts'
import { formatWelcome } from '../../src/cli/welcome.ts'
import { makeFolder } from '../config/config-folder.ts'
import { eventually } from '../e2e/program.ts'
import { makeTerminal, runAt } from '../fakes/terminal.ts'
import { programFile } from '../program-file.ts'
import { placeDatabase } from './commands-at.ts'

const env = { PILLARBOX_HTTP__LISTEN: '127.0.0.1:0', PILLARBOX_LOG__LEVEL: 'silent' }

/** Starts a server in this process; `stop` returns its exit status. */
async function startServer(cwd: string, ...argv: string[]) {
  const terminal = makeTerminal({ cwd, env })
  const ended = runCli([...argv, 'serve'], terminal)
  await Promise.race([terminal.seen(/\n$/), ended])
  const lines = terminal.out().split('\n')
  const stop = () => {
    terminal.signals.emit('SIGTERM')
    // From now on signals have their default effect, but a second SIGHUP has none.
    for (const signal of ['SIGTERM', 'SIGINT']) {
      assert.equal(terminal.signals.listenerCount(signal), 0)
    }
    assert.equal(terminal.signals.listenerCount('SIGHUP'), 1)
    return ended
  }
  return {
    lines,
    ready: JSON.parse(lines[0] ?? ''),
    text: lines.slice(1).join('\n'),
    stop,
    terminal,
  }
}

/** Sends the request of the welcome's curl line. */
function curl(line: string, key?: string): Promise<Response> {
  const [, url = ''] = /^curl (\S+)/.exec(line) ?? []
  const [, body = ''] = /-d '(.*)'$/.exec(line) ?? []
  const [, printed] = /Bearer (sk_[0-9a-f]+)/.exec(line) ?? []
  const headers = { authorization: `Bearer ${key ?? printed}`, 'content-type': 'application/json' }
  return fetch(url, { method: 'POST', headers, body })
}

/** Starts a process and ends it with the signal. */
async function assertStopsAt(signal: NodeJS.Signals): Promise<void> {
  const cwd = makeFolder()
  const child = spawn(process.execPath, [programFile, 'serve'], {
    cwd,
    env: { ...process.env, ...env },
  })
  try {
    const [line] = await once(createInterface({ input: child.stdout }), 'line')
    assert.equal(JSON.parse(line).event, 'ready')
    if (process.platform !== 'win32') {
      assert.equal(statSync(path.join(cwd, 'data')).mode & 0o777, 0o700)
      assert.equal(statSync(path.join(cwd, 'data', 'secret')).mode & 0o777, 0o600)
      assert.equal(statSync(path.join(cwd, 'data', 'pillarbox.db')).mode & 0o777, 0o600)
    }
    if (process.platform === 'linux') {
      assert.equal(readFileSync(`/proc/${child.pid}/comm`, 'utf8'), 'pillarbox\n')
      assert.match(readFileSync(`/proc/${child.pid}/cmdline`, 'utf8'), /^pillarbox\0/)
    }
    child.kill(signal)
    const [status] = await once(child, 'exit')
    if (process.platform !== 'win32') assert.equal(status, 0)
  } finally {
    child.kill('SIGKILL')
  }
}

describe('pillarbox serve', () => {
  it('prints keys and a curl line at the first start only, and shows what arrived', {
    timeout: 600_000,
  }, async () => {
    const cwd = makeFolder()
    const first = await startServer(cwd)
    assert.equal(first.ready.event, 'ready')
    assert.equal(first.ready.mode, 'sandbox')
    assert.match(first.ready.http, /^http:\/\/127\.0\.0\.1:\d+$/)
    assert.match(first.text, /user +admin@example\.test\n +password +\S+\n +secret key +sk_/)
    assert.match(
      first.text,
      /\nLog in at http:\/\/localhost:\d+\/app\/login\n\nCreated [\s\S]*public key +pk_\w+\n$/,
    )
    const line = first.lines.find((one) => one.startsWith('curl ')) ?? ''
    const response = await curl(line)
    assert.equal(response.status, 200, await response.text())
    const messages = async () =>
      JSON.parse((await runAt({ cwd, env }, 'sandbox', 'list', '--json')).out)
    const { to, subject } = await eventually(async () => (await messages())[0])
    assert.deepEqual([to, subject], ['you@example.net', 'Hello'])
    const second = await runAt({ cwd, env }, 'serve', '--json')
    assert.deepEqual([second.status, JSON.parse(second.err).error.code], [1, 'CONFLICT'])
    assert.equal(await first.stop(), 0)

    const again = await startServer(cwd)
    assert.doesNotMatch(again.text, /sk_|password/)
    assert.match(again.text, /\nLog in at http:\/\/localhost:\d+\/app\/login\n$/)
    assert.match(again.text, /"Authorization: Bearer \$PILLARBOX_KEY"/)
    const oldKey = /Bearer (sk_[0-9a-f]+)/.exec(line)?.[1]
    const later = again.lines.find((one) => one.startsWith('curl ')) ?? ''
    assert.equal((await curl(later, oldKey)).status, 200)
    const [, id = ''] = /project keys (\S+) --regenerate/.exec(again.text) ?? []
    const renew = await runAt({ cwd, env }, 'project', 'keys', id, '--regenerate', '--json')
    assert.equal((await curl(later, JSON.parse(renew.out).secret)).status, 200)
    await eventually(async () => (await curl(later, oldKey)).status === 401 || undefined)
    assert.equal(await again.stop(), 0)
  })

  it("prints the welcome as JSON; config check warns about the sandbox's keys in other modes", async () => {
    const cwd = makeFolder()
    await placeDatabase(cwd)
    const { lines, stop } = await startServer(cwd, '--json')
    const welcome = JSON.parse(lines[1] ?? '')
    assert.equal(welcome.event, 'sandbox')
    assert.match(welcome.keys.secret, /^sk_/)
    assert.ok(welcome.curl.includes(welcome.keys.secret))
    assert.match(welcome.login, /\/app\/login$/)
    assert.equal(await stop(), 0)
    const direct = {
      ...env,
      PILLARBOX_DELIVERY__MODE: 'direct',
      PILLARBOX_DELIVERY__HOSTNAME: 'mail.example.com',
      PILLARBOX_BASE_URL: 'https://mail.example.com',
    }
    const check = async () =>
      JSON.parse((await runAt({ cwd, env: direct }, 'config', 'check', '--json')).out).warnings
    const [user = '', keys = '', ...others] = await check()
    assert.deepEqual(others, [])
    for (const warning of [user, keys]) {
      const [, command = ''] = /pillarbox ([^:]+)$/.exec(warning) ?? []
      assert.equal((await runAt({ cwd, env: direct }, ...command.split(' '))).status, 0, warning)
    }
    assert.deepEqual(await check(), [])
  })

  it('fails with advice when its address is taken', async () => {
    const [cwd, other] = [makeFolder(), makeFolder()]
    for (const folder of [cwd, other]) await placeDatabase(folder)
    const { ready, stop } = await startServer(cwd)
    const taken = { ...env, PILLARBOX_HTTP__LISTEN: new URL(ready.http).host }
    const { status, out, err } = await runAt({ cwd: other, env: taken }, 'serve')
    assert.deepEqual([status, out], [1, ''])
    assert.match(err, /EADDRINUSE[\s\S]*Another program listens on this address/)
    assert.equal(await stop(), 0)
  })

  it('of a service without any configuration says which command writes it', async () => {
    // As in `/` for the user of the service, the folder of the data cannot be made here.
    const file = path.join(makeFolder(), 'file')
    writeFileSync(file, '')
    const cwd = path.join(file, 'below')
    const marks = [{ INVOCATION_ID: 'a1' }, { NOTIFY_SOCKET: '/run/notify' }]
    const start = (own: NodeJS.ProcessEnv) => runAt({ cwd, env: own }, 'serve')
    for (const mark of marks) {
      const { status, err } = await start(mark)
      assert.equal(status, 2)
      assert.match(
        err,
        /\n {2}\/etc\/pillarbox\/pillarbox\.toml: found no such file, .*; run pillarbox --config \/etc\/pillarbox\/pillarbox\.toml init to write it\n/,
      )
      assert.doesNotMatch(err, /mkdir/)
    }
    // A service of variables alone is configured; a start by hand is a sandbox.
    for (const own of [{}, ...marks.map((mark) => ({ ...mark, ...env }))]) {
      const { status, err } = await start(own)
      assert.equal(status, 2)
      assert.match(err, /\n {2}data_dir: found .*mkdir/)
      assert.doesNotMatch(err, /init/)
    }
  })

  it('runs as a process named pillarbox and stops with status 0 at SIGTERM', async () => {
    await assertStopsAt('SIGTERM')
  })

  it('stops as at SIGTERM when its terminal is closed', async () => {
    await assertStopsAt('SIGHUP')
  })
})

describe('the welcome', () => {
  it('names the configuration file that commands need', () => {
    const terminal = makeTerminal({ cwd: '/' })
    const sandbox = { kind: 'existing' as const, domain: 'x.test', project: { id: 'P', name: 'N' } }
    const context = { terminal, configPath: '/etc/p.toml', isJson: false }
    const addresses = { api: 'http://127.0.0.1:1', login: 'http://localhost:1/app/login' }
    const text = formatWelcome(context, sandbox, addresses)
    assert.match(text, / --config \/etc\/p\.toml project keys P --regenerate/)
    assert.match(text, / --config \/etc\/p\.toml sandbox list/)
  })
})
