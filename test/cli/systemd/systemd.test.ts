import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import fs, {
  chmodSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import path from 'node:path'
import { describe, it } from 'node:test'
import { installService } from '../../../src/cli/systemd/install.ts'
import { listNextSteps, runsOldProgram } from '../../../src/cli/systemd/systemd.ts'
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

  it('keeps a name with a line break within its line', async () => {
    const cwd = makeFolder()
    const name = 'a\n[Install]\t"b"\\.toml'
    writeFileSync(path.join(cwd, name), '')
    const { out } = await runAt({ cwd }, '--config', name, 'systemd', '--program', '/opt/p')
    const written = 'a\\x0a[Install]\\x09\\"b\\"\\\\.toml'
    assert.ok(out.includes(`\nExecStart=/opt/p --config "${cwd}/${written}" serve\n`), out)
    assert.equal(out.match(/^\[Install\]/gm)?.length, 1)
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
    chmodSync(file, 0o644)
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
    chmodSync(file, 0o644)
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
    mkdirSync(path.join(root, 'srv/mail'), { recursive: true })
    chmodSync(path.join(root, 'srv/mail'), 0o755)
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

  it('makes no folder of the system the data_dir of the service', {
    skip: process.geteuid?.() === 0 ? false : 'only root can give folders to others',
  }, async () => {
    const root = makeRoot()
    writeFileSync(path.join(root, 'etc/passwd'), 'pillarbox:x:65432:65432::/var/lib/pillarbox:\n')
    mkdirSync(path.join(root, 'srv'))
    symlinkSync(path.join(root, 'etc'), path.join(root, 'srv/link'))
    const config = path.join(root, 'pillarbox.toml')
    const options = ['--install', '--root', root, '--program', '/opt/pillarbox', '--force']
    const folders = ['/etc/systemd/system/x.service.d', '/srv/link/cron.d', '/usr/lib/new/data']
    for (const folder of folders) {
      writeFileSync(config, `data_dir = "${folder}"\n`)
      const { status, err } = await runAt({ cwd: root }, '--config', config, 'systemd', ...options)
      assert.equal(status, 1, err)
      assert.match(err, /is in \/(?:etc|usr), which has files of the system/)
      assert.ok(err.includes(`install -d -o 65432 -m 700 ${path.join(root, folder)}`), err)
      assert.throws(() => statSync(path.join(root, folder)), { code: 'ENOENT' })
      assert.throws(() => statSync(path.join(root, 'var')), { code: 'ENOENT' })
    }
    const users = path.join(root, 'etc/passwd')
    writeFileSync(users, '')
    const { status, err } = await runAt({ cwd: root }, '--config', config, 'systemd', ...options)
    assert.equal(status, 1, err)
    assert.ok(err.includes(`yourself: install -d -m 700 ${path.join(root, '/usr/lib/new')}`), err)
    assert.equal(readFileSync(users, 'utf8'), '')
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
    const root = makeFolder()
    const { steps } = await install(root)
    assert.deepEqual(doneOf(steps), ['missing', ...Array(4).fill('created')])
    const options = ['--install', '--root', root, '--program', '/opt/pillarbox']
    const { out } = await runAt({ cwd: root }, 'systemd', ...options)
    assert.match(out, /create the system user pillarbox there/)
    assert.doesNotMatch(out, /Everything is in place/)
  })

  it('names init first while there is no configuration, and then the start', async () => {
    const root = makeRoot()
    const argv = ['systemd', '--install', '--root', root, '--program', '/opt/pillarbox', '--json']
    const nextOf = async (...first: string[]) => {
      const { status, out, err } = await runAt({ cwd: root }, ...first, ...argv)
      assert.equal(status, 0, err)
      return JSON.parse(out).next
    }
    const start = ['systemctl daemon-reload', 'systemctl enable --now pillarbox']
    const init = '/opt/pillarbox --config /etc/pillarbox/pillarbox.toml init'
    assert.deepEqual(await nextOf(), [init, ...start])
    writeFileSync(path.join(root, 'etc/pillarbox/pillarbox.toml'), '')
    assert.deepEqual(await nextOf(), start)
    const own = path.join(root, 'own.toml')
    const force = ['--config', own]
    argv.push('--force')
    assert.deepEqual(await nextOf(...force), [`/opt/pillarbox --config ${own} init`, ...start])
    const { out } = await runAt({ cwd: root }, ...force, ...argv.slice(0, -2))
    assert.ok(out.includes(`Next:\n  /opt/pillarbox --config ${own} init\n  systemctl`), out)
  })

  it('names a restart after an upgrade', async () => {
    const root = makeRoot()
    const from = path.join(root, 'new-program')
    const configFile = path.join(root, 'pillarbox.toml')
    writeFileSync(configFile, '')
    const to = '/usr/local/bin/pillarbox'
    const nextAfter = (program: string, unit: string) => {
      writeFileSync(from, program)
      const input = { root, unit, program: { from, to }, writable: [], force: true }
      const installed = { root, program: [to], configFile, runsOld: runsOldProgram(root) }
      return listNextSteps(installService(input), installed)
    }
    const start = ['systemctl daemon-reload', 'systemctl enable --now pillarbox']
    const [enable, restart] = ['systemctl enable pillarbox', 'systemctl restart pillarbox']
    assert.deepEqual(nextAfter('one', 'unit'), start)
    assert.deepEqual(nextAfter('one', 'unit'), start)
    assert.deepEqual(nextAfter('two', 'unit'), [enable, restart])
    assert.deepEqual(nextAfter('two', 'other'), ['systemctl daemon-reload', enable, restart])
    const links = path.join(root, 'etc/systemd/system/multi-user.target.wants')
    mkdirSync(links)
    // The target of the link is below the root of the other system.
    symlinkSync('/etc/systemd/system/pillarbox.service', path.join(links, 'pillarbox.service'))
    assert.deepEqual(nextAfter('three', 'other'), [restart])
    assert.deepEqual(nextAfter('four', 'unit'), ['systemctl daemon-reload', restart])
    // The second run after the upgrade.
    const group = path.join(root, 'sys/fs/cgroup/system.slice/pillarbox.service')
    for (const folder of [group, path.join(root, 'proc/41'), path.join(root, 'proc/42')]) {
      mkdirSync(folder, { recursive: true })
    }
    writeFileSync(path.join(group, 'cgroup.procs'), '41\n42\n43\n')
    symlinkSync(to, path.join(root, 'proc/41/exe'))
    assert.deepEqual(nextAfter('four', 'unit'), start)
    symlinkSync(`${to} (deleted)`, path.join(root, 'proc/42/exe'))
    assert.deepEqual(nextAfter('four', 'unit'), ['systemctl daemon-reload', restart])
  })

  it('keeps the unit when --config names the file that the service finds by itself', async () => {
    const options = ['systemd', '--program', '/opt/pillarbox']
    const { out } = await runAt({ cwd: makeFolder() }, ...options)
    const named = ['--config', '/etc/pillarbox/pillarbox.toml', ...options]
    assert.equal((await runAt({ cwd: makeFolder() }, ...named)).out, out)
  })

  it('replaces the unit of an earlier version, which names this file', async () => {
    const root = makeRoot()
    const file = '/etc/pillarbox/pillarbox.toml'
    const unit = path.join(root, UNIT)
    await install(root)
    const own = readFileSync(unit, 'utf8')
    const line = 'ExecStart=/opt/pillarbox serve'
    assert.ok(own.includes(line))
    for (const argv of [['--config', file], []]) {
      writeFileSync(unit, own.replace(line, `ExecStart=/opt/pillarbox --config ${file} serve`))
      const { status, err, steps } = await install(root, ...argv)
      assert.equal(status, 0, err)
      assert.equal(doneOf(steps).at(-1), 'changed')
      assert.equal(readFileSync(unit, 'utf8'), own)
    }
    writeFileSync(
      unit,
      own.replace(line, `ExecStart=/opt/pillarbox --config ${root}/own.toml serve`),
    )
    const { status, err } = await install(root)
    assert.equal(status, 1)
    assert.match(err, /--force/)
  })

  it('looks for the usual configuration below the root of the other system only', (t) => {
    const root = makeRoot()
    const configFile = '/etc/pillarbox/pillarbox.toml'
    const { existsSync } = fs
    const isOfThisSystem = (file: fs.PathLike) => file === configFile || existsSync(file)
    const mocked = t.mock.method(fs, 'existsSync', isOfThisSystem)
    syncBuiltinESMExports()
    t.after(() => {
      mocked.mock.restore()
      syncBuiltinESMExports()
    })
    const input = { root, program: ['/opt/pillarbox'], configFile, runsOld: false }
    assert.equal(listNextSteps([], input)[0], `/opt/pillarbox --config ${configFile} init`)
    assert.notEqual(listNextSteps([], { ...input, root: '/' })[0], listNextSteps([], input)[0])
    const own = '/srv/own.toml'
    mocked.mock.mockImplementation((file) => file === own)
    assert.equal(listNextSteps([], { ...input, configFile: own })[0], 'systemctl daemon-reload')
  })

  it('refuses wrong usage', async () => {
    const cwd = makeFolder()
    for (const argv of [['--root', cwd], ['--force'], ['--program', 'here']]) {
      assert.equal((await runAt({ cwd }, 'systemd', ...argv)).status, 2, argv.join(' '))
    }
  })
})
