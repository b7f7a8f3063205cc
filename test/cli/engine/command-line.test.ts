/** The commands in printed texts are those that the operator must type. */
import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { before, describe, it } from 'node:test'
import { COMMANDS } from '../../../src/cli/commands.ts'
import { formatCommand, typedLike } from '../../../src/cli/engine/command-line.ts'
import { makeFolder } from '../../config/config-folder.ts'
import { runAt } from '../../fakes/terminal.ts'
import { placeDatabase } from '../commands-at.ts'

const names = COMMANDS.map(({ name }) => name)

describe('the commands in a text', () => {
  it('get the --config of the command line', () => {
    const cases: [argv: string[], text: string, typed: string][] = [
      [['queue', 'list'], 'run pillarbox queue show 1', 'run pillarbox queue show 1'],
      [['--config', 'a.toml', 'x'], 'pillarbox queue show', 'pillarbox --config a.toml queue show'],
      [['x', '--config=a b'], '"pillarbox serve"', `"pillarbox --config 'a b' serve"`],
      [['--config', 'a', '--config', 'b'], 'pillarbox doctor', 'pillarbox --config b doctor'],
      [['--config', '$&'], 'pillarbox doctor', `pillarbox --config '$&' doctor`],
      [['--config'], 'pillarbox doctor', 'pillarbox doctor'],
      [
        ['--config', 'a'],
        'x\npillarbox backup FILE\nor',
        'x\npillarbox --config a backup FILE\nor',
      ],
    ]
    for (const [argv, text, typed] of cases) assert.equal(typedLike(argv, names)(text), typed)
  })

  it('are told from other words', () => {
    const typed = typedLike(['--config', 'a.toml'], names)
    for (const text of [
      'the user pillarbox cannot enter /root',
      'systemctl start pillarbox',
      '/usr/local/bin/pillarbox serve',
      'pillarbox --config b.toml serve',
      'pillarbox served',
      'chown -R pillarbox: /data',
    ]) {
      assert.equal(typed(text), text)
    }
  })

  it('are quoted for a shell', () => {
    assert.equal(
      formatCommand(['queue', 'show', "it's"], 'a b'),
      `pillarbox --config 'a b' queue show 'it'\\''s'`,
    )
  })
})

describe('a command with --config', () => {
  const cwd = makeFolder()
  const file = 'etc/other.toml'
  const run = (...argv: string[]) => runAt({ cwd }, '--config', file, ...argv)
  const json = async (...argv: string[]) => JSON.parse((await run(...argv, '--json')).out)
  let project: string
  let email: string

  before(async () => {
    await placeDatabase(cwd)
    mkdirSync(path.join(cwd, 'etc'))
    const settings = ['data_dir = "../data"', '[delivery]', 'hostname = "mail.example.com"']
    writeFileSync(path.join(cwd, file), `${settings.join('\n')}\n`)
    await run('user', 'create', '--email', 'ann@example.test')
    const owner = ['--name', 'Shop', '--owner', 'ann@example.test']
    project = (await json('project', 'create', ...owner)).id
    await run('domain', 'add', '--project', project, 'example.test')
    await run('domain', 'verify', 'example.test', '--trust')
    email = (await json('send', ...message())).id
    await run('queue', 'hold', '--domain', 'example.net')
  })

  const message = () => [
    ...['--project', project, '--from', 'a@example.test', '--to', 'b@example.net'],
    ...['--subject', 'Hello', '--html', '<p>Hello</p>'],
  ]

  it('prints it in every command that it names', async () => {
    const calls: (() => string[])[] = [
      () => ['send', ...message()],
      () => ['queue', 'list', '--to', 'b@example.net'],
      () => ['queue', 'list', '--to', 'nobody@example.net', '--state', 'ended'],
      () => ['queue', 'show', email],
      () => ['queue', 'show', 'b@example.net'],
      () => ['queue', 'retry', email],
      () => ['queue', 'holds'],
      () => ['domain', 'add', '--project', project, 'second.test'],
      () => ['project', 'keys', 'Shop'],
      () => ['project', 'update', project],
      () => ['fence'],
      () => ['queue', 'hold'],
      () => ['make-user'],
    ]
    for (const argv of calls.map((call) => call())) {
      const { out, err } = await run(...argv)
      const found = (out + err).match(/(?<![\w/.-])pillarbox (?:--config \S+ )?[a-z]+/g) ?? []
      const named = found.filter((text) =>
        names.some((name) => name.startsWith(text.split(' ').at(-1) ?? '')),
      )
      const isSilent = argv[3] === 'nobody@example.net'
      assert.equal(named.length > 0, !isSilent, `${argv.join(' ')}\n${out}${err}`)
      for (const text of named)
        assert.match(text, /^pillarbox --config etc\/other\.toml /, out + err)
    }
  })

  it('leaves the texts of people as they are', async () => {
    const subject = 'pillarbox domain news'
    const sent = await json('send', ...message().with(7, subject))
    for (const argv of [
      ['queue', 'list'],
      ['queue', 'list', '--to', 'b@example.net'],
      ['queue', 'show', sent.id],
    ]) {
      const { out } = await run(...argv)
      assert.match(out, / pillarbox domain news(?: |$)/m, argv.join(' '))
    }
    const made = ['--name', 'pillarbox queue', '--owner', 'ann@example.test']
    await run('project', 'create', ...made)
    const { out } = await run('project', 'list')
    assert.match(out, / pillarbox queue /)
  })

  it('has it in JSON too', async () => {
    const { command } = await json('queue', 'show', email)
    assert.equal(command, `pillarbox --config ${file} queue release --domain example.net`)
    const { err } = await run('project', 'keys', 'Shop', '--json')
    const { suggestion } = JSON.parse(err).error
    assert.equal(
      suggestion,
      `A project is named by its id: pillarbox --config ${file} project list`,
    )
  })
})

describe('the name of a project in place of its id', () => {
  it('is refused with the command that lists the ids', async () => {
    const cwd = makeFolder()
    await placeDatabase(cwd)
    await runAt({ cwd }, 'user', 'create', '--email', 'ann@example.test')
    const taking = COMMANDS.flatMap(({ name, args = '', options = [] }) => {
      const flags = options.map(([flag]) => flag)
      const isGiven = flags.some((flag) => /^!?--project /.test(flag))
      const isProject = name.startsWith('project ') && args === '<id>'
      return isGiven || isProject ? [{ name, args, flags, isGiven }] : []
    })
    assert.ok(taking.length > 15)
    for (const { name, args, flags, isGiven } of taking) {
      const values: Record<string, string> = {
        '--subject': 'Hello',
        '--since': '2h',
        '--role': 'MEMBER',
      }
      const needed = flags.filter((flag) => flag.startsWith('!') && !flag.startsWith('!--project'))
      const options = needed.flatMap((flag) => {
        const long = flag.slice(1).split(' ')[0] ?? ''
        return [long, values[long] ?? 'ann@example.test']
      })
      const extra: Record<string, string[]> = {
        send: ['--text', 'Hello'],
        'project update': ['--name', 'Other'],
        'project delete': ['--yes'],
        'queue release': ['--restored'],
      }
      const domain = args.includes('domain') ? ['example.test'] : []
      const address = args.includes('address') ? ['ann@example.test'] : []
      const given = isGiven ? ['--project', 'Shop', ...domain, ...address] : ['Shop']
      const argv = [...name.split(' '), ...given, ...options, ...(extra[name] ?? [])]
      const { status, err } = await runAt({ cwd }, ...argv)
      assert.equal(status, 1, `${argv.join(' ')}\n${err}`)
      assert.match(err, /^A project is named by its id: pillarbox project list$/m, argv.join(' '))
    }
  })
})
