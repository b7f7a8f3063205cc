import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import path from 'node:path'
import { describe, it } from 'node:test'
import { AppError } from '../../src/base/errors.ts'
import { createLog, type Log, type LogLevel } from '../../src/base/log.ts'
import { maskAddresses } from '../../src/base/redact.ts'
import { databaseError } from '../../src/store/database-error.ts'

type Entry = Record<string, unknown> & { error: Record<string, unknown> }

/** A log, what it has written, and its clock. */
function openLog(level: LogLevel = 'info') {
  const entries: Entry[] = []
  const state = { elapsedMs: 0, leftOut: 0 }
  const log = createLog(
    level,
    { write: (line: string) => entries.push(JSON.parse(line)) },
    {
      elapsed: () => state.elapsedMs,
      onLeftOut: () => {
        state.leftOut += 1
      },
    },
  )
  return { log, entries, state }
}

const full = () =>
  databaseError(
    Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' }),
    '/data/a.db',
  )

describe('the lines of the log', () => {
  it('name their level', () => {
    const { log, entries } = openLog('trace')
    log.fatal('a')
    log.error('b')
    log.warn('c')
    log.info('d')
    log.debug('e')
    log.trace('f')
    const levels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace']
    assert.deepEqual(
      entries.map(({ level }) => level),
      levels,
    )
  })

  const plain: [string, unknown, string][] = [
    ['a full disk', full(), 'SQLITE_FULL'],
    [
      'a refused connection',
      Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:25'), {
        code: 'ECONNREFUSED',
        syscall: 'connect',
      }),
      'ECONNREFUSED',
    ],
    ['a busy port', Object.assign(new Error('listen'), { code: 'EADDRINUSE' }), 'EADDRINUSE'],
    [
      'a broken handshake',
      Object.assign(new Error('wrong version'), { code: 'ERR_SSL_WRONG_VERSION_NUMBER' }),
      'ERR_SSL_WRONG_VERSION_NUMBER',
    ],
    ['an error with a code of ours', new AppError('CONFLICT', 'It is running.'), 'CONFLICT'],
  ]
  for (const [what, error, code] of plain) {
    it(`of ${what} have no stack trace`, () => {
      const { log, entries } = openLog()
      log.error({ error }, 'it failed')
      assert.equal(entries[0]?.error.code, code)
      assert.equal(entries[0]?.error.stack, undefined)
      assert.ok(String(entries[0]?.error.message).length > 0)
    })
  }

  it('of an internal error have the stack trace of each of its causes', () => {
    const { log, entries } = openLog()
    const cause = new TypeError('x is undefined')
    log.error({ error: new AppError('INTERNAL_SERVER_ERROR', 'Sorry.', { cause }) }, 'it failed')
    log.error({ error: Object.assign(new Error('no such table'), { code: 'SQLITE_ERROR' }) }, 'sql')
    const [first, second] = entries.map(({ error }) => error)
    assert.equal(first?.message, 'Sorry.: x is undefined')
    assert.match(
      String(first?.stack),
      /caused by: TypeError: x is undefined\n {4}at .*(log\.test|tests\.mjs)/,
    )
    assert.match(String(second?.stack), /no such table/)
  })

  it('about a full disk name the file', () => {
    const { log, entries } = openLog()
    log.error({ error: full() }, 'it failed')
    assert.equal(entries[0]?.error.path, '/data/a.db')
  })

  it('show only the first letter and the domain of an address', () => {
    const { log, entries } = openLog()
    log.info({ to: ['alice@example.com', 'Bob <b.o+b@example.org>'], from: 'carl@a.test' }, 'x')
    assert.deepEqual(entries[0]?.to, ['a…@example.com', 'Bob <b…@example.org>'])
    assert.equal(entries[0]?.from, 'c…@a.test')
    assert.equal(
      maskAddresses('no mailbox alice@a.test, ask élise@b.test'),
      'no mailbox a…@a.test, ask é…@b.test',
    )
    assert.equal(maskAddresses('@'.repeat(50_000)).length, 50_000)
  })
})

describe('the same line', () => {
  it('is written once a minute per cause, and the next one has the number of omitted lines', () => {
    const { log, entries, state } = openLog()
    for (let count = 0; count < 425; count += 1) {
      log.error({ error: full(), requestId: `r${count}` }, 'a group of writes failed')
    }
    assert.equal(entries.length, 1)
    assert.equal(state.leftOut, 424)
    state.elapsedMs = 59_999
    log.error({ error: full() }, 'a group of writes failed')
    assert.equal(entries.length, 1)
    state.elapsedMs = 60_000
    log.error({ error: full() }, 'a group of writes failed')
    assert.deepEqual([entries.length, entries[1]?.leftOut], [2, 425])
    state.elapsedMs = 120_000
    log.error({ error: full() }, 'a group of writes failed')
    assert.equal(entries[2]?.leftOut, undefined)
  })

  it('differs by level, text, error code, site or domain', () => {
    const { log, entries, state } = openLog()
    const cases: ((log: Log) => void)[] = [
      (to) => to.warn('a'),
      (to) => to.error('a'),
      (to) => to.warn('b'),
      (to) => to.warn({ error: Object.assign(new Error('x'), { code: 'ENOSPC' }) }, 'a'),
      (to) => to.warn({ error: Object.assign(new Error('x'), { code: 'EIO' }) }, 'a'),
      (to) => to.warn({ site: 'mx.one.test' }, 'a'),
      (to) => to.warn({ site: 'mx.two.test' }, 'a'),
      (to) => to.warn({ domain: 'one.test' }, 'a'),
      (to) => to.warn({ kind: 'segments.refresh', error: new TypeError('y') }, 'a'),
    ]
    for (const write of cases) write(log)
    for (const write of cases) write(log)
    assert.equal(entries.length, cases.length)
    assert.equal(state.leftOut, cases.length)
  })

  it('does not differ by the ids and numbers in its error', () => {
    const { log, entries } = openLog()
    log.warn({ emailId: '1', error: 'email 0199d0a2-7a3b-7000-8000-0123456789ab lost at 17' }, 'a')
    log.warn({ emailId: '2', error: 'email 0199d0a2-7a3b-7000-8000-ba9876543210 lost at 18' }, 'a')
    assert.equal(entries.length, 1)
  })

  it('is never omitted at info if it names no peer', () => {
    const { log, entries } = openLog()
    for (let count = 0; count < 1_000; count += 1) log.info('delivered')
    assert.equal(entries.length, 1_000)
  })

  it('that a peer causes at info is omitted for a minute, for that peer only', () => {
    const { log, entries, state } = openLog()
    const refuse = (peer: string, from: string) =>
      log.info({ peer, from, to: 'postmaster@a.test' }, 'refused a recipient: too-often')
    for (let count = 0; count < 1_000; count += 1) refuse('192.0.2.1', `spam${count}@b.test`)
    refuse('192.0.2.2', 'carl@c.test')
    assert.deepEqual(
      entries.map(({ peer }) => peer),
      ['192.0.2.1', '192.0.2.2'],
    )
    state.elapsedMs = 60_000
    refuse('192.0.2.1', 'spam@b.test')
    assert.deepEqual([entries.length, entries.at(-1)?.leftOut], [3, 999])
  })

  it('at warn differs by the domain of the recipient, and not by the mailbox', () => {
    const { log, entries } = openLog()
    const full = (to: string | string[]) =>
      log.warn({ peer: '192.0.2.1', to }, 'refused a recipient: full')
    for (const to of ['ann@a.test', 'bob@A.test', 'carl@b.test', 'dora@b.test']) full(to)
    full(['ann@a.test', 'carl@b.test'])
    for (const to of ['2026-11-21T12:00:00.000Z', '2026-11-21T12:00:10.000Z']) full(to)
    assert.deepEqual(
      entries.map(({ to }) => to),
      ['a…@a.test', 'c…@b.test', ['a…@a.test', 'c…@b.test'], '2026-11-21T12:00:00.000Z'],
    )
  })

  it('that is below the level of the log does not count', () => {
    const { log, state } = openLog('error')
    log.warn('a')
    log.warn('a')
    assert.equal(state.leftOut, 0)
  })

  it('is counted for the last thousand causes only', () => {
    const { log, entries } = openLog()
    for (let site = 0; site <= 1_000; site += 1) log.warn({ site: `mx${site}.test` }, 'dead')
    log.warn({ site: 'mx0.test' }, 'dead')
    log.warn({ site: 'mx1000.test' }, 'dead')
    assert.equal(entries.length, 1_002)
  })
})

describe('stderr', () => {
  const run = (script: string) => {
    const log = path.join(import.meta.dirname, '../../src/base/log.ts')
    const text = `import { createLog } from ${JSON.stringify(log)}\nconst log = createLog('info')\n${script}`
    const argv = ['--input-type=module', '--eval', text]
    const { stderr } = spawnSync(process.execPath, argv, { encoding: 'utf8' })
    return stderr
      .split('\n')
      .flatMap((line) => (line.startsWith('{') ? [JSON.parse(line).msg] : []))
  }

  it('has every line of a process that crashed, in order', () => {
    const lines = run(`
      for (let count = 0; count < 5000; count += 1) log.info('line ' + count)
      throw new Error('a crash')`)
    assert.equal(lines.length, 5_000)
    assert.equal(lines.at(-1), 'line 4999')
  })

  it('has the fatal line and all lines before it when the process is killed afterwards', () => {
    const lines = run(`
      log.info('before')
      log.fatal('the end')
      process.kill(process.pid, 'SIGKILL')
      await new Promise((resolve) => setTimeout(resolve, 60_000))`)
    assert.deepEqual(lines, ['before', 'the end'])
  })
})
