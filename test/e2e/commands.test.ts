/** The command line beside a running server that is a process, as it is for an operator. */
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { describe, it } from 'node:test'
import { runAt } from '../fakes/terminal.ts'
import type { ShownEmail } from './mail/shown-email.ts'
import { eventually } from './program.ts'
import { attemptHere, installBesideSink, makeProject, placeDatabase, post } from './server.ts'

function message(from = 'shop@example.test') {
  return { to: 'ada@dest.test', from, subject: 'Hello', body: '<p>Hello</p>' }
}

function idOf({ body }: { body: unknown }): string {
  return (body as { data: { emails: { email: string }[] } }).data.emails[0]?.email ?? ''
}

describe('commands beside a running server', () => {
  it('take effect, without another request to the server', async (t) => {
    const { sink, installation } = await installBesideSink(t, {
      retrySchedule: '1h',
      respond: ({ verb, count }) =>
        verb === 'RCPT' && count <= 2 ? '451 4.3.2 Busy, come back' : undefined,
    })
    // This process runs them: the start of a process takes longer than they do.
    const command = async (...argv: string[]): Promise<unknown> => {
      const options = { cwd: installation.folder, env: {} }
      const { status, out, err } = await runAt(options, ...argv, '--json')
      assert.equal(status, 0, err)
      return JSON.parse(out)
    }
    const { id, secret } = await makeProject(installation)
    await command('domain', 'add', '--project', id, 'other.test')
    const server = await installation.serve()
    const show = async (email: string) => (await command('queue', 'show', email)) as ShownEmail
    let key = secret
    const send = (from?: string) => post(server.url, key, message(from))

    /** Runs a command, and waits for its effect. */
    async function takesEffect(argv: string[], isDone: () => Promise<boolean> | boolean) {
      const printed = await command(...argv)
      await eventually(async () => ((await isDone()) ? true : undefined))
      return printed
    }

    const isStatus = (status: number, from?: string) => async () =>
      (await send(from)).status === status
    const [first, second] = [idOf(await send()), idOf(await send())]
    for (const email of [first, second]) {
      await eventually(async () => (await show(email)).state === 'deferred' || undefined)
    }
    await takesEffect(['queue', 'retry', first], () => sink.acceptedCount() === 1)
    await takesEffect(
      ['queue', 'cancel', second],
      async () => (await show(second)).state === 'failed',
    )
    assert.equal((await show(second)).error, 'cancelled')

    assert.equal((await send('shop@other.test')).status, 403)
    await takesEffect(
      ['domain', 'verify', 'other.test', '--trust'],
      isStatus(200, 'shop@other.test'),
    )
    let held = ''
    await takesEffect(['queue', 'hold', '--domain', 'dest.test'], async () => {
      held = idOf(await send())
      return (await show(held)).state === 'held'
    })
    await takesEffect(
      ['queue', 'release', '--domain', 'dest.test'],
      async () => (await show(held)).state === 'delivered',
    )

    await takesEffect(['project', 'update', id, '--disable', 'MANUAL'], isStatus(403))
    await takesEffect(['project', 'update', id, '--enable'], isStatus(200))
    const renewed = await takesEffect(['project', 'keys', id, '--regenerate'], isStatus(401))
    key = (renewed as { secret: string }).secret
    assert.equal((await send()).status, 200)
    assert.equal(await server.kill('SIGTERM'), 0)
  })

  it('exit with a status that shows their outcome', async (t) => {
    const { installation } = await installBesideSink(t, { retrySchedule: '1h' })
    const { attempt, folder } = installation
    await placeDatabase(installation)
    const server = await installation.serve()
    for (const [status, code, ...argv] of [
      [1, 'CONFLICT', 'serve'],
      [2, 'WRONG_USAGE', 'queue', 'explode'],
    ] as const) {
      const ended = await attempt(...argv, '--json')
      assert.equal(ended.status, status, `${argv.join(' ')}: ${ended.stderr}`)
      assert.equal(ended.stdout, '')
      assert.equal(JSON.parse(ended.stderr).error.code, code)
    }
    const second = await attemptHere(installation, 'serve')
    assert.match(
      second.err,
      /^pillarbox: Another server already runs on this database\.\nStop the other server first\. .* fuser \/.*\n$/,
    )
    assert.equal(second.out, '')
    assert.equal((await fetch(new URL('/health', server.url))).status, 200)
    assert.equal(await server.kill('SIGINT'), 0)

    await writeFile(path.join(folder, 'pillarbox.toml'), '[delivery]\nmoed = "direct"\n')
    const broken = await attempt('serve')
    assert.equal(broken.status, 2)
    assert.match(broken.stderr, /delivery\.moed.*\n?.*delivery\.mode/)
  })
})
