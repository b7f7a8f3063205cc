import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { readSince } from '../../src/cli/options/list-options.ts'
import { makeFolder } from '../config/config-folder.ts'
import { runAt } from '../fakes/terminal.ts'
import { commandsAt, placeDatabase } from './commands-at.ts'

const cwd = makeFolder()
const env = { PILLARBOX_DELIVERY__HOSTNAME: 'mail.example.com' }
const { run, json, failure } = commandsAt({ cwd, env }, 'suppressions')
const projects: string[] = []

before(async () => {
  await placeDatabase(cwd)
  await runAt({ cwd, env }, 'user', 'create', '--email', 'owner@example.test')
  for (const name of ['Letters', 'Notes']) {
    const argv = ['project', 'create', '--name', name, '--owner', 'owner@example.test', '--json']
    projects.push(JSON.parse((await runAt({ cwd, env }, ...argv)).out).id)
  }
})

describe('pillarbox suppressions', () => {
  it('add, list and remove return what the API returns', async () => {
    const [project = '', other = ''] = projects
    assert.match((await run('list')).out, /^No address is suppressed\.\n$/)
    const added = await json('add', '--project', project, 'Ada@Dest.test', 'bob@dest.test')
    assert.deepEqual(added, { added: 2, existing: 0 })
    const more = ['--reason', 'hard_bounce', 'eve@other.test']
    assert.deepEqual(await json('add', '--project', project, ...more), { added: 1, existing: 0 })
    assert.deepEqual(await json('add', '--project', other, 'ada@dest.test'), {
      ...{ added: 1, existing: 0 },
    })
    assert.deepEqual(await json('add', '--project', project, 'ada@dest.test'), {
      ...{ added: 0, existing: 1 },
    })

    const page = await json('list', '--project', project)
    assert.deepEqual(Object.keys(page), ['data', 'cursor', 'hasMore', 'total'])
    assert.equal(page.total, 3)
    const { id, createdAt, ...newest } = page.data[0]
    assert.deepEqual(newest, {
      ...{ email: 'eve@other.test', reason: 'HARD_BOUNCE', source: 'command line', emailId: null },
    })
    const found = async (...argv: string[]) =>
      (await json('list', ...argv)).data.map(({ email }: { email: string }) => email)
    assert.deepEqual(await found('--project', project, '--reason', 'manual'), [
      'bob@dest.test',
      'ada@dest.test',
    ])
    assert.deepEqual(await found('--search', 'ADA@'), ['ada@dest.test', 'ada@dest.test'])
    assert.equal((await json('list')).data[0].projectId, other)
    assert.equal(
      (await run('list', '--search', 'nobody@')).out,
      'No suppressed address matches the search.\n',
    )
    assert.equal(
      (await run('list', '--reason', 'complaint')).out,
      'No address is suppressed for this reason.\n',
    )
    assert.match((await run('list')).out, /^ADDRESS +REASON +SINCE +SOURCE +PROJECT\n/)

    const first = await json('list', '--project', project, '--limit', '2')
    assert.deepEqual([first.hasMore, first.data.length], [true, 2])
    const next = await json('list', '--project', project, '--cursor', first.cursor)
    assert.deepEqual([next.data.length, next.hasMore], [1, false])

    const removed = await json('remove', '--project', project, 'ADA@dest.test', 'no@dest.test')
    assert.deepEqual(removed, { removed: 1 })
    const again = await run('remove', '--project', project, 'ada@dest.test')
    assert.deepEqual([again.status, again.out], [1, 'Removed from the list: 0. Not on it: 1.\n'])
    assert.equal((await json('list', '--project', project)).total, 2)
    assert.equal((await json('list', '--project', other)).total, 1)
  })

  it('list --held, confirm and undo say when there is nothing to do', async () => {
    assert.deepEqual(await json('list', '--held'), { data: [], hasMore: false, total: 0 })
    assert.match((await run('list', '--held')).out, /^No suppression is held\.\n$/)
    const searched = await failure('list', '--held', '--search', 'ada')
    assert.equal(searched.message, '--held takes --project and --limit, not --search')
    const since = '2026-01-01T00:00:00.000Z'
    assert.deepEqual(await json('confirm', '--since', since), {
      ...{ since, suppressed: 0, dropped: 0, remaining: 0 },
    })
    assert.deepEqual(await json('undo', '--since', since, '--project', projects[0] ?? ''), {
      ...{ since, dropped: 0, removed: 0, resubscribed: 0, kept: 0, remaining: 0 },
    })
    const { out } = await run('undo', '--since', '2h')
    assert.match(
      out,
      /^Removed from the list since .*: 0; subscribed again: 0\.\nHeld.* dropped: 0\.\n$/,
    )
  })

  it('wrong options and unknown projects are named, and nothing changes', async () => {
    const [project = ''] = projects
    const total = (await json('list')).total
    const none = '019a0000-0000-7000-8000-000000000000'
    for (const argv of [
      ['list', '--project', none],
      ['add', '--project', none, 'a@b.test'],
      ['remove', '--project', none, 'a@b.test'],
      ['confirm', '--since', '2h', '--project', none],
    ]) {
      const { status, code } = await failure(...argv)
      assert.deepEqual([status, code], [1, 'RESOURCE_NOT_FOUND'], argv.join(' '))
    }
    const wrong: [argv: string[], said: RegExp][] = [
      [['add', '--project', project, 'a@b.test', 'nobody'], /not an address: nobody/],
      [
        ['add', '--project', project, '--reason', 'BOUNCE', 'a@b.test'],
        /--reason: expected one of/,
      ],
      [['list', '--limit', '0'], /--limit/],
      [['list', '--reason', 'x'], /--reason/],
      [['confirm'], /--since/],
      [['undo', '--since', 'yesterday'], /--since: expected an instant/],
      [['undo', '--since', '2999-01-01'], /in the future/],
    ]
    for (const [argv, said] of wrong) {
      const { status, message } = await failure(...argv)
      assert.equal(status, 2, argv.join(' '))
      assert.match(message, said)
    }
    assert.equal((await json('list')).total, total)
  })
})

it('--since takes an instant, in UTC without a zone, or how long ago', () => {
  const now = Date.UTC(2026, 10, 21, 12)
  const rows: [text: string, at: number][] = [
    ['30m', now - 30 * 60_000],
    ['2h', now - 2 * 3_600_000],
    ['1d', now - 86_400_000],
    ['2026-11-21T11:59:00Z', now - 60_000],
    ['2026-11-21 11:59', now - 60_000],
    ['2026-11-21T12:59:00+01:00', now - 60_000],
    ['2026-11-21', Date.UTC(2026, 10, 21)],
  ]
  for (const [text, at] of rows) assert.equal(readSince(text, now), at, text)
  for (const text of ['', '2', 'h', '2026-02-30', '12:00', '-2h']) {
    assert.throws(() => readSince(text, now), /expected an instant/, text)
  }
})
