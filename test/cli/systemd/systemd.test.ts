import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, it } from 'node:test'
import { makeFolder } from '../../config/config-folder.ts'
import { runAt } from '../../fakes/terminal.ts'

const UNIT = 'etc/systemd/system/pillarbox.service'
const MAX_EXPOSURE = 2.0
const isRateable = spawnSync('systemd-analyze', ['--version']).status === 0

/** A root with a list of users, in which the service's user is the one of this process. */
function makeRoot(): string {
  const root = makeFolder()
  mkdirSync(path.join(root, 'etc'))
  const ids = `${process.getuid?.()}:${process.getgid?.()}`
  writeFileSync(path.join(root, 'etc/passwd'), `pillarbox:x:${ids}::/var/lib/pillarbox:\n`)
  return root
}

async function install(root: string, ...argv: string[]) {
  const options = ['--install', '--root', root, '--program', '/opt/pillarbox', '--json', ...argv]
  const { status, out, err } = await runAt({ cwd: root }, 'systemd', ...options)
  return { status, err, steps: status === 0 ? JSON.parse(out).steps : [] }
}

const doneOf = (steps: readonly { done: string }[]) => steps.map(({ done }) => done)

describe('the unit', () => {
  it('names the program, its user and its state, and is printed', async () => {
    const { out } = await runAt(
      { cwd: makeFolder() },
      'systemd',
      '--program',
      '/opt/a b%/pillarbox',
    )
    assert.match(out, /^ExecStart="\/opt\/a b%%\/pillarbox" serve$/m)
    assert.match(out, /^User=pillarbox$/m)
    assert.match(out, /^StateDirectory=pillarbox$/m)
    assert.deepEqual(out.match(/ReadWritePaths.*/g), ['ReadWritePaths=-/var/backups/pillarbox'])
  })

  it('lets the server write a data folder of another place', async () => {
    const cwd = makeFolder()
    writeFileSync(path.join(cwd, 'pillarbox.toml'), 'data_dir = "/srv/mail data"\n')
    const argv = ['systemd', '--program', '/opt/pillarbox']
    const { out } = await runAt({ cwd }, '--config', 'pillarbox.toml', ...argv)
    assert.match(out, /^ReadWritePaths="\/srv\/mail data"$/m)
    assert.ok(out.includes(`ExecStart=/opt/pillarbox --config ${cwd}/pillarbox.toml serve`))
    const { out: other } = await runAt({ cwd }, ...argv)
    assert.deepEqual(other.match(/ReadWritePaths.*/g), ['ReadWritePaths=-/var/backups/pillarbox'])
  })

  it('lets the server write the folder of its backups', async () => {
    const cwd = makeFolder()
    const settings =
      'data_dir = "/var/lib/pillarbox"\n[backup]\ndir = "/srv/backups"\nevery = "1d"\n'
    writeFileSync(path.join(cwd, 'pillarbox.toml'), settings)
    const argv = ['systemd', '--program', '/opt/pillarbox']
    const { out } = await runAt({ cwd }, '--config', 'pillarbox.toml', ...argv)
    assert.match(out, /^ReadWritePaths=\/srv\/backups$/m)
  })

  it('is the same before and after the configuration names the usual folders', async () => {
    const cwd = makeFolder()
    const argv = ['--config', 'pillarbox.toml', 'systemd', '--program', '/opt/pillarbox']
    const { out: before } = await runAt({ cwd }, ...argv)
    const settings =
      'data_dir = "/var/lib/pillarbox"\n[backup]\ndir = "/var/backups/pillarbox"\nevery = "1d"\n'
    writeFileSync(path.join(cwd, 'pillarbox.toml'), settings)
    const { out: after } = await runAt({ cwd }, ...argv)
    assert.match(after, /^ReadWritePaths=-\/var\/backups\/pillarbox$/m)
    assert.equal(after, before)
  })

  it('starts the server again for as long as a fault lasts, but not with a wrong configuration', async () => {
    const { out } = await runAt({ cwd: makeFolder() }, 'systemd', '--program', '/opt/pillarbox')
    const [head = '', service = ''] = out.split('[Service]')
    assert.match(head, /^StartLimitIntervalSec=0$/m)
    assert.match(service, /^Restart=always$/m)
    assert.match(service, /^RestartPreventExitStatus=2$/m)
  })

  it('leaves memory to the rest of the machine', async () => {
    const { out } = await runAt({ cwd: makeFolder() }, 'systemd', '--program', '/opt/pillarbox')
    const service = out.slice(out.indexOf('[Service]'), out.indexOf('[Install]'))
    assert.deepEqual(service.match(/^Memory.*$/gm), ['MemoryHigh=70%', 'MemoryMax=85%'])
  })

  it('is understood by systemd', {
    skip: isRateable ? false : 'systemd-analyze is not installed',
  }, async () => {
    const cwd = makeFolder()
    const { out } = await runAt({ cwd }, 'systemd', '--program', '/bin/true')
    const file = path.join(cwd, 'pillarbox.service')
    writeFileSync(file, out)
    const { stderr } = spawnSync('systemd-analyze', ['verify', file], { encoding: 'utf8' })
    assert.deepEqual(
      stderr.split('\n').filter((line) => line.includes(file)),
      [],
    )
  })

  it('is rated at 2.0 or better', {
    skip: isRateable ? false : 'systemd-analyze is not installed',
  }, async () => {
    const cwd = makeFolder()
    const { out } = await runAt({ cwd }, 'systemd', '--program', '/bin/true')
    const file = path.join(cwd, 'pillarbox.service')
    writeFileSync(file, out)
    const options = ['security', '--offline=true', '--no-pager', file]
    const text = execFileSync('systemd-analyze', options, { encoding: 'utf8' })
    const [, exposure] = /exposure level for pillarbox\.service: ([\d.]+)/.exec(text) ?? []
    assert.ok(Number(exposure) <= MAX_EXPOSURE, text)
  })
})

describe('systemd --install', () => {
  it('sets up folders, rights and unit; a second run changes nothing', async () => {
    const root = makeRoot()
    const first = await install(root)
    assert.equal(first.status, 0, first.err)
    assert.deepEqual(doneOf(first.steps), ['unchanged', ...Array(4).fill('created')])
    for (const folder of ['var/lib/pillarbox', 'etc/pillarbox', 'var/backups/pillarbox']) {
      assert.equal(statSync(path.join(root, folder)).mode & 0o777, 0o700)
    }
    const { mtimeMs } = statSync(path.join(root, UNIT))
    const second = await install(root)
    assert.deepEqual(new Set(doneOf(second.steps)), new Set(['unchanged']))
    assert.equal(statSync(path.join(root, UNIT)).mtimeMs, mtimeMs)
  })

  it('makes the folders that the configuration names, and leaves those that exist alone', async () => {
    const root = makeRoot()
    const config = path.join(root, 'pillarbox.toml')
    const settings = 'data_dir = "/srv/mail"\n[backup]\ndir = "/srv/copies"\nevery = "1d"\n'
    writeFileSync(config, settings)
    mkdirSync(path.join(root, 'srv/mail'), { recursive: true, mode: 0o755 })
    const options = ['--install', '--root', root, '--program', '/opt/pillarbox', '--json']
    const { status, out, err } = await runAt(
      { cwd: root },
      ...['--config', config, 'systemd', ...options],
    )
    assert.equal(status, 0, err)
    const paths = JSON.parse(out).steps.map((step: { path: string }) => step.path)
    assert.ok(paths.includes('/srv/copies'), out)
    assert.ok(!paths.includes('/srv/mail'), out)
    assert.equal(statSync(path.join(root, 'srv/copies')).mode & 0o777, 0o700)
    assert.equal(statSync(path.join(root, 'srv/mail')).mode & 0o777, 0o755)
  })

  it('refuses to replace a unit that differs, with the difference, before it changes anything', async () => {
    const root = makeRoot()
    mkdirSync(path.dirname(path.join(root, UNIT)), { recursive: true })
    writeFileSync(path.join(root, UNIT), '[Service]\nExecStart=/mine\n')
    const { status, err } = await install(root)
    assert.equal(status, 1)
    assert.match(err, /- ExecStart=\/mine/)
    assert.match(err, /\+ ExecStart=\/opt\/pillarbox serve/)
    assert.throws(() => statSync(path.join(root, 'etc/pillarbox')), { code: 'ENOENT' })
    const forced = await install(root, '--force')
    assert.deepEqual(doneOf(forced.steps).at(-1), 'changed')
    assert.match(readFileSync(path.join(root, `${UNIT}.old`), 'utf8'), /ExecStart=\/mine/)
  })

  it('says that the user is missing where there is no list of users', async () => {
    const { steps } = await install(makeFolder())
    assert.deepEqual(doneOf(steps), ['missing', ...Array(4).fill('created')])
  })

  it('refuses wrong usage', async () => {
    const cwd = makeFolder()
    for (const argv of [['--root', cwd], ['--force'], ['--program', 'here']]) {
      assert.equal((await runAt({ cwd }, 'systemd', ...argv)).status, 2, argv.join(' '))
    }
  })
})
