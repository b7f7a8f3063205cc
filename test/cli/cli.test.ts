import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { describe, it } from 'node:test'
import packageJson from '../../package.json' with { type: 'json' }
import { COMMANDS } from '../../src/cli/commands.ts'
import { makeFolder } from '../config/config-folder.ts'
import { runAt } from '../fakes/terminal.ts'
import { programFile } from '../program-file.ts'

describe('the command line', () => {
  it('prints its version without opening the database', async () => {
    const cwd = makeFolder()
    const { status, out } = await runAt({ cwd }, 'version', '--json')
    assert.equal(status, 0)
    assert.deepEqual(JSON.parse(out), { version: packageJson.version, node: process.versions.node })
    assert.equal((await runAt({ cwd }, '--version', '--json')).out, out)
    const { out: text } = await runAt({ cwd }, 'version')
    assert.equal(text, `pillarbox ${packageJson.version} (Node.js ${process.versions.node})\n`)
    assert.deepEqual(readdirSync(cwd), [])
  })

  it('gives its exit status to the process', () => {
    const cwd = makeFolder()
    const run = (...argv: string[]) =>
      execFileSync(process.execPath, [programFile, ...argv], {
        cwd,
        encoding: 'utf8',
        stdio: 'pipe',
      })
    assert.match(run('version'), /^pillarbox /)
    assert.throws(() => run('nonsense'), { status: 2 })
  })

  it('lists the commands, in each group too', async () => {
    const cwd = makeFolder()
    const { status, out, err } = await runAt({ cwd }, '--help')
    assert.equal(status, 0)
    assert.equal(err, '')
    for (const name of ['serve', 'init', 'config', 'user', 'project', 'domain', 'queue', 'send']) {
      assert.match(out, new RegExp(`^ {2}${name} `, 'm'))
    }
    assert.match((await runAt({ cwd }, 'queue', 'show', '--help')).out, /--json/)
  })

  it('exits with status 2 and a text on stderr after wrong usage', async () => {
    const cwd = makeFolder()
    const cases: [argv: string[], text: RegExp][] = [
      [[], /which command\?\n[\s\S]*serve/],
      [['queue'], /which command\?\n[\s\S]*retry/],
      [['queu'], /unknown command 'queu'\n\(Did you mean pillarbox queue\?\)/],
      [['version', 'extra'], /too many arguments/],
      [['version', '--nonsense'], /unknown option '--nonsense'/],
      [['user', 'create'], /missing: --email <address>\n[\s\S]*Usage: pillarbox user create/],
      [['queue', 'show'], /missing: <id>\n[\s\S]*Usage: pillarbox queue show/],
      [['queue', 'retry'], /missing: <id>\n[\s\S]*Usage: pillarbox queue retry/],
      [['domain', 'add'], /missing: <domain>, --project <id>\n/],
      [['domain', 'add', 'x.test'], /missing: --project <id>\n/],
      [
        ['send', '--from', 'a@b.test'],
        /missing: --project <id>, --to <address>, --subject <text>\n/,
      ],
      [
        ['queue', 'list', '--state', 'lost'],
        /Usage: pillarbox queue list \[options\]\nFor all options: pillarbox queue list --help\n$/,
      ],
      [['init', '--mode', 'pigeon'], /--mode: expected one of sandbox, direct, relay/],
      [['queue', 'hold'], /--domain/],
      [['queue', 'hold', '--domain', 'x'], /--domain: expected a domain name/],
      [['queue', 'list', '--state', 'lost'], /--state: expected one of queued, deferred/],
      [['queue', 'list', '--sender-domain', '@'], /--sender-domain: expected a domain name/],
      [['project', 'update', 'x'], /nothing to change/],
      [['sandbox', 'show', 'x'], /the number of a sandbox message/],
      [['init', '--hostname', 'a b'], /--hostname: expected a host name/],
      [['init', '--base-url', 'x'], /--base-url: expected an address/],
      [['version', '--config'], /argument missing/],
    ]
    for (const [argv, text] of cases) {
      const { status, out, err } = await runAt({ cwd }, ...argv)
      assert.equal(status, 2, argv.join(' '))
      assert.equal(out, '', argv.join(' '))
      assert.match(err, text)
      assert.match(err, /^pillarbox: (?!error)/)
    }
    assert.deepEqual(readdirSync(cwd), [])
  })

  it('answers an unknown command with the nearest ones, in the words of other programs too', async () => {
    const cwd = makeFolder()
    const cases: [typed: string, meant: string | null][] = [
      ['make-user', 'user create'],
      ['make-user --email ann@example.test', 'user create'],
      ['--config x.toml make-user', 'user create'],
      ['user make', 'user create'],
      ['user add ann@example.test', 'user create'],
      ['create user', 'user create'],
      ['users', 'user'],
      ['list-users', 'user list'],
      ['initialize', 'init'],
      ['start', 'serve'],
      ['status', 'doctor'],
      ['logs', 'log'],
      ['project member rm x', 'project member remove'],
      ['domain delete x.test', 'domain remove'],
      ['queue flush', 'queue retry'],
      ['queue delete', 'queue cancel'],
      ['queue delete 0199a7c0-0000-7000-8000-000000000001', 'queue cancel'],
      ['queue rm 0199a7c0-0000-7000-8000-000000000001', 'queue cancel'],
      ['quue list', 'queue list'],
      ['suppresions', 'suppressions'],
      ['version-info', 'version'],
      ['xyzzy', null],
    ]
    for (const [typed, meant] of cases) {
      const { status, err } = await runAt({ cwd }, ...typed.split(' '))
      assert.equal(status, 2, typed)
      assert.match(err, /^pillarbox: unknown command '/, typed)
      const shown =
        /^\(Did you mean pillarbox (?:--config x\.toml )?(.*)\?\)$/m.exec(err)?.[1] ?? null
      assert.equal(shown, meant, typed)
    }
    assert.deepEqual(readdirSync(cwd), [])
  })

  it('answers an argument too many with the option that takes it', async () => {
    const cwd = makeFolder()
    const id = '0199a7c0-0000-7000-8000-000000000001'
    const cases: [typed: string, option: string | null][] = [
      ['user create ann@example.test', '--email ann@example.test'],
      ['project create Shop', '--name Shop'],
      ['queue list ann@example.test', '--to ann@example.test'],
      ['queue list example.net', '--domain example.net'],
      ['queue hold example.net', '--domain example.net'],
      [`domain add example.test ${id}`, `--project ${id}`],
      ['log level debug 10m', '--for 10m'],
      ['restore copy.tar /srv/data', '--to /srv/data'],
      ['serve pillarbox.toml', '--config pillarbox.toml'],
      ['doctor now', null],
    ]
    for (const [typed, option] of cases) {
      const { status, err } = await runAt({ cwd }, ...typed.split(' '))
      assert.equal(status, 2, typed)
      assert.match(err, /^pillarbox: too many arguments/, typed)
      assert.equal(/^\(Did you mean (.*)\?\)$/m.exec(err)?.[1] ?? null, option, typed)
    }
  })

  it('follows the message of a wrong use with two lines at most', async () => {
    const cwd = makeFolder()
    for (const { name } of COMMANDS) {
      const { status, err } = await runAt({ cwd }, ...name.split(' '), '--nonsense')
      assert.equal(status, 2, name)
      const [first = '', ...usage] = err.trimEnd().split('\n')
      assert.match(first, /unknown option '--nonsense'/)
      assert.match(usage.at(-2) ?? '', new RegExp(`^Usage: pillarbox ${name} `))
      assert.equal(usage.at(-1), `For all options: pillarbox ${name} --help`)
      assert.equal(usage.length, 2, err)
    }
  })

  it('reports wrong usage as JSON with --json', async () => {
    const { status, err } = await runAt({ cwd: makeFolder() }, 'queue', 'show', '--json')
    assert.equal(status, 2)
    const { error } = JSON.parse(err)
    assert.equal(error.code, 'WRONG_USAGE')
    assert.equal(error.message, 'missing: <id>')
  })

  it('exits with status 2 for any command with a wrong configuration', async () => {
    const cwd = makeFolder()
    const env = { PILLARBOX_DELIVERY__MODE: 'pigeon' }
    for (const argv of [['serve'], ['config', 'check'], ['queue', 'list'], ['user', 'list']]) {
      const { status, err } = await runAt({ cwd, env }, ...argv, '--json')
      assert.equal(status, 2)
      assert.equal(JSON.parse(err).error.problems[0].key, 'delivery.mode')
    }
    const missing = await runAt({ cwd }, '--config', 'missing.toml', 'config', 'check')
    assert.equal(missing.status, 2)
    assert.match(missing.err, /missing\.toml: found no such file/)
    assert.deepEqual(readdirSync(cwd), [])
  })
})
