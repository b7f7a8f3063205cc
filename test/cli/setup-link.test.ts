import assert from 'node:assert/strict'
import { existsSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { describe, it } from 'node:test'
import { runCli } from '../../src/cli/cli.ts'
import { formatSetup } from '../../src/cli/welcome.ts'
import { makeFolder } from '../config/config-folder.ts'
import { makeTerminal, runAt } from '../fakes/terminal.ts'
import { commandsAt, placeDatabase } from './commands-at.ts'

const env = {
  PILLARBOX_HTTP__LISTEN: '127.0.0.1:0',
  PILLARBOX_LOG__LEVEL: 'silent',
  PILLARBOX_DELIVERY__MODE: 'direct',
  PILLARBOX_DELIVERY__HOSTNAME: 'mail.example.com',
  PILLARBOX_BASE_URL: 'https://mail.example.com',
}
const LINK = /https:\/\/mail\.example\.com\/app\/setup#[0-9a-f]{64}/
const EMAIL = 'olga@example.com'

async function makePlace() {
  const cwd = makeFolder()
  await placeDatabase(cwd)
  return { cwd, env, file: path.join(cwd, 'data', 'setup-link') }
}

type Place = { cwd: string; env: NodeJS.ProcessEnv }

/** Starts a server in this process, at a terminal or not. */
async function serve(place: Place, isTTY: boolean, ...argv: string[]) {
  const terminal = makeTerminal(place)
  terminal.stdout.isTTY = isTTY
  const ended = runCli([...argv, 'serve'], terminal)
  await Promise.race([terminal.seen(/\n$/), ended])
  const [ready = '', ...lines] = terminal.out().trimEnd().split('\n')
  return {
    url: JSON.parse(ready).http,
    text: lines.join('\n'),
    stop: async () => {
      terminal.signals.emit('SIGTERM')
      assert.equal(await ended, 0)
    },
  }
}

async function setUp(url: string, link = '', password = 'correct horse battery'): Promise<number> {
  const token = link.split('#')[1]?.trim()
  const response = await fetch(new URL('/setup', url), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token, email: EMAIL, password }),
  })
  await response.text()
  return response.status
}

describe('a server without users', () => {
  it('S39: prints the link at a terminal; it works once and is not printed again', async () => {
    const place = await makePlace()
    const first = await serve(place, true)
    const [link] = LINK.exec(first.text) ?? []
    assert.equal(readFileSync(place.file, 'utf8'), `${link}\n`)
    if (process.platform !== 'win32') assert.equal(statSync(place.file).mode & 0o777, 0o600)
    assert.match(
      first.text,
      /^\nNobody can log in yet\. Make the first user in a browser:\n\nhttps/,
    )
    assert.match(first.text, /A new one: .* setup-link$/)
    assert.deepEqual([await setUp(first.url, link), await setUp(first.url, link)], [200, 404])
    assert.equal(existsSync(place.file), false)
    await first.stop()
    const [user] = await commandsAt(place).json('user', 'list')
    assert.deepEqual([user.email, user.isOperator, user.emailVerified], [EMAIL, true, true])
    const again = await serve(place, true)
    assert.equal(again.text, '')
    await again.stop()
  })

  it('S39: prints the path of the file elsewhere, and never the link', async () => {
    const place = await makePlace()
    const { text, stop } = await serve(place, false)
    assert.equal(
      text,
      `Nobody can log in yet. The first user is made in a browser. The link is in ${place.file}.`,
    )
    assert.match(readFileSync(place.file, 'utf8'), LINK)
    await stop()
  })

  it('prints one line of JSON with --json', async () => {
    const place = await makePlace()
    for (const isTTY of [false, true]) {
      const { text, stop } = await serve(place, isTTY, '--json')
      const { event, file, link, expiresAt } = JSON.parse(text)
      assert.deepEqual([event, file], ['setup', place.file])
      assert.ok(Date.parse(expiresAt) > Date.now())
      assert.equal(link === undefined, !isTTY)
      await stop()
    }
  })

  it('S39: has a new link after each start', async () => {
    const place = await makePlace()
    const first = await serve(place, false)
    const old = readFileSync(place.file, 'utf8')
    await first.stop()
    const second = await serve(place, false)
    assert.equal(await setUp(second.url, old), 404)
    assert.equal(await setUp(second.url, readFileSync(place.file, 'utf8')), 200)
    await second.stop()
  })
})

describe('pillarbox setup-link', () => {
  it('S39: makes a new link beside a running server, which ends the one before', async () => {
    const place = await makePlace()
    const { url, stop } = await serve(place, false)
    const old = readFileSync(place.file, 'utf8')
    const { link, file, expiresAt } = await commandsAt(place).json('setup-link')
    assert.match(link, LINK)
    assert.deepEqual([file, readFileSync(file, 'utf8')], [place.file, `${link}\n`])
    assert.ok(Date.parse(expiresAt) > Date.now())
    const text = await commandsAt(place).text('setup-link')
    const [newest] = LINK.exec(text) ?? []
    assert.deepEqual(
      [await setUp(url, old), await setUp(url, link), await setUp(url, newest)],
      [404, 404, 200],
    )
    const { status, code, message } = await commandsAt(place).failure('setup-link')
    assert.deepEqual([status, code], [1, 'CONFLICT'])
    assert.match(message, /is set up/)
    await stop()
  })

  it('S39: works no more once a command has made a user, whose link and file go', async () => {
    const place = await makePlace()
    const { url, stop } = await serve(place, false)
    const link = readFileSync(place.file, 'utf8')
    await commandsAt(place).json('user', 'create', '--email', 'ada@example.com')
    assert.equal(existsSync(place.file), false)
    assert.equal(await setUp(url, link), 404)
    assert.equal((await runAt(place, 'setup-link')).status, 1)
    await stop()
  })
})

describe('the text about a set-up', () => {
  it('names the command if the file could not be written', () => {
    const terminal = makeTerminal({ cwd: '/' })
    const context = { terminal, configPath: '/etc/p.toml', isJson: false }
    const setup = { link: 'https://x.test/app/setup#abc', file: null, expiresAt: '' }
    const text = formatSetup(context, setup)
    assert.match(text, / --config \/etc\/p\.toml setup-link prints the link\.$/)
    assert.doesNotMatch(text, /#/)
  })
})
