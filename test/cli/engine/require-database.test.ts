import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { COMMANDS } from '../../../src/cli/commands.ts'
import type { CommandSpec } from '../../../src/cli/engine/command.ts'
import { listOtherPlaces } from '../../../src/cli/engine/other-places.ts'
import { SYSTEM_FILE } from '../../../src/config/layers/file.ts'
import { makeFolder } from '../../config/config-folder.ts'
import { runAt } from '../../fakes/terminal.ts'
import { placeDatabase } from '../commands-at.ts'

/** Those that need no database, or make one. */
const OTHERS = [
  ...['serve', 'init', 'systemd', 'config check', 'config show', 'verify', 'restore'],
  ...['bounce inspect', 'version'],
]

const ID = '0199a7c0-0000-7000-8000-000000000001'

/** Options without which a command would refuse its own usage. */
const NEEDED: Record<string, string[]> = {
  'user operator': ['--on'],
  'user totp': ['--disable'],
  'project update': ['--name', 'Shop'],
  'queue release': ['--domain', 'example.net'],
  'inbound retry': ['--failed'],
  'project delete': ['--yes'],
  send: ['--text', 'Hello'],
}

const VALUES: Record<string, string> = {
  '<address>': 'ada@example.net',
  '<address...>': 'ada@example.net',
  '<domain>': 'example.net',
  '<role>': 'MEMBER',
  '<when>': '1h',
  '<name>': 'Shop',
  '<text>': 'Hello',
}

function lineOf({ name, args, options = [] }: CommandSpec): string[] {
  const required = options.flatMap(([flags]) => (flags.startsWith('!') ? [flags.slice(1)] : []))
  const word = (placeholder: string) => VALUES[placeholder] ?? ID
  return [
    ...name.split(' '),
    ...(args?.startsWith('<') ? [name === 'sandbox show' ? '1' : word(args)] : []),
    ...required.flatMap((flags) => {
      const [flag = '', placeholder = ''] = flags.split(' ')
      return [flag, word(placeholder)]
    }),
    ...(NEEDED[name] ?? []),
  ]
}

const commands = COMMANDS.filter(({ name }) => !OTHERS.includes(name))

test('every command says that there is no configuration and no database, and makes nothing', async () => {
  assert.ok(commands.length > 40)
  const cwd = makeFolder()
  for (const spec of commands) {
    const { status, out, err } = await runAt({ cwd }, ...lineOf(spec))
    assert.deepEqual([status, out], [1, ''], spec.name + err)
    const looked = `looked for ${cwd}/pillarbox.toml and /etc/pillarbox/pillarbox.toml`
    assert.ok(
      err.startsWith(
        `pillarbox: No configuration was found (${looked}), and ${cwd}/data has no database.\n`,
      ),
      spec.name + err,
    )
    assert.match(err, /--config FILE/)
    assert.deepEqual(readdirSync(cwd), [], spec.name)
  }
})

test('a configuration, a variable of the environment or the database of a trial is enough', async () => {
  const [withFile, trial] = [makeFolder(), makeFolder()]
  writeFileSync(path.join(withFile, 'pillarbox.toml'), '')
  await placeDatabase(trial)
  const env = { PILLARBOX_DATA_DIR: 'elsewhere' }
  for (const place of [{ cwd: withFile }, { cwd: trial }, { cwd: makeFolder(), env }]) {
    const { status, out, err } = await runAt(place, 'user', 'list')
    assert.deepEqual([status, out, err], [0, 'No users yet.\n', ''])
  }
})

test('an empty data folder is no database', async () => {
  const cwd = makeFolder()
  mkdirSync(path.join(cwd, 'data'))
  const { status, err } = await runAt({ cwd }, 'sandbox', 'list')
  assert.equal(status, 1)
  assert.match(err, /No configuration was found/)
  assert.deepEqual(readdirSync(path.join(cwd, 'data')), [])
})

test('the configuration of the system is named where the database of a trial lies, too', async () => {
  const cwd = makeFolder()
  await placeDatabase(cwd)
  const noted = (file: string, database: string) => {
    const config = { file, dataDir: path.dirname(database), database: { file: database } }
    return listOtherPlaces({ config } as never, { cwd }).join('')
  }
  const here = path.join(cwd, 'data', 'pillarbox.db')
  const note = noted(SYSTEM_FILE, '/var/lib/pillarbox/pillarbox.db')
  assert.ok(note.startsWith(`This command uses ${SYSTEM_FILE}, not ${here}. `), note)
  assert.match(note, /--config .*data_dir = .*\/data\.$/)
  assert.equal(noted(SYSTEM_FILE, here), '')
  assert.equal(noted(path.join(cwd, 'pillarbox.toml'), '/var/lib/pillarbox/pillarbox.db'), '')
})

test('a server that is no sandbox says so, and which file it has', async () => {
  const cwd = makeFolder()
  writeFileSync(path.join(cwd, 'pillarbox.toml'), '')
  const env = {
    PILLARBOX_DELIVERY__MODE: 'direct',
    PILLARBOX_DELIVERY__HOSTNAME: 'mail.example.com',
  }
  await placeDatabase(cwd)
  const { status, out, err } = await runAt({ cwd, env }, 'sandbox', 'list')
  assert.deepEqual([status, err], [0, ''])
  assert.ok(
    out.includes(`This server is no sandbox: delivery.mode is direct in ${cwd}/pillarbox.toml.`),
    out,
  )
})

test('a file in the present folder that hides the configuration of the system is named, once', async () => {
  const [cwd, etc] = [makeFolder(), makeFolder()]
  const [file, systemFile] = [path.join(cwd, 'pillarbox.toml'), path.join(etc, 'pillarbox.toml')]
  await placeDatabase(cwd)
  await placeDatabase(etc)
  writeFileSync(file, '')
  assert.equal((await runAt({ cwd, systemFile }, 'user', 'list')).err, '')
  writeFileSync(systemFile, '')
  const note = `This command uses ${file}, which hides ${systemFile}. For that server: --config ${systemFile}`
  for (const command of [
    ['user', 'list'],
    ['backup', path.join(etc, 'a.tar.zst')],
  ]) {
    const env = { PILLARBOX_BACKUP__MIN_FREE_BYTES: '0' }
    const { status, err } = await runAt({ cwd, env, systemFile }, ...command)
    assert.deepEqual([status, err], [0, `${note}\n`])
  }
  const checked = await runAt({ cwd, systemFile }, 'config', 'check')
  assert.ok(checked.out.includes(`Warning: ${note}`), checked.out)
  assert.equal(checked.err, '')
  for (const argv of [
    ['user', 'list', '--json'],
    ['--config', file, 'user', 'list'],
    ['--config', systemFile, 'user', 'list'],
  ]) {
    assert.equal((await runAt({ cwd, systemFile }, ...argv)).err, '')
  }
  assert.equal((await runAt({ cwd: etc, systemFile }, 'user', 'list')).err, '')
})

test('a data_dir of the configuration that is not there is refused, and made by user create', async () => {
  const cwd = makeFolder()
  const data = path.join(cwd, 'typo')
  writeFileSync(path.join(cwd, 'pillarbox.toml'), 'data_dir = "typo"\n[backup]\ndir = "copies"\n')
  for (const spec of commands.filter(({ name }) => name !== 'user create')) {
    const { status, out, err } = await runAt({ cwd }, ...lineOf(spec))
    assert.deepEqual([status, out], [1, ''], spec.name + err)
    const said = `pillarbox: data_dir of ${cwd}/pillarbox.toml does not exist: ${data}\n`
    assert.ok(err.startsWith(said), spec.name + err)
    assert.deepEqual(readdirSync(cwd), ['pillarbox.toml'], spec.name)
  }
  const warned = async () => (await runAt({ cwd }, 'config', 'check')).out
  assert.ok((await warned()).includes(`Warning: data_dir does not exist yet: ${data}.`))
  assert.ok((await warned()).includes(`Warning: backup.dir does not exist yet: ${cwd}/copies.`))
  const made = await runAt({ cwd }, 'user', 'create', '--email', 'ada@example.net')
  assert.equal(made.status, 0, made.err)
  assert.equal((await runAt({ cwd }, 'user', 'list')).status, 0)
  assert.doesNotMatch(await warned(), /data_dir does not exist/)
})
