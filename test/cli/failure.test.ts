import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { AppError, invalidField } from '../../src/base/errors.ts'
import { writeFailure } from '../../src/cli/cli.ts'
import { UsageError } from '../../src/cli/engine/command.ts'
import { typedLike } from '../../src/cli/engine/command-line.ts'
import { ConfigError } from '../../src/config/problems.ts'
import { databaseError } from '../../src/store/database-error.ts'
import { makeTerminal } from '../fakes/terminal.ts'

function report(error: unknown) {
  const [terminal, jsonTerminal] = [makeTerminal({ cwd: '/' }), makeTerminal({ cwd: '/' })]
  const status = writeFailure(terminal, error, { isJson: false })
  assert.equal(writeFailure(jsonTerminal, error, { isJson: true }), status)
  assert.equal(terminal.out() + jsonTerminal.out(), '')
  return { status, text: terminal.err(), json: JSON.parse(jsonTerminal.err()) }
}

const busy = Object.assign(new Error('listen EADDRINUSE: address already in use 127.0.0.1:1'), {
  code: 'EADDRINUSE',
  syscall: 'listen',
})
const problem = { key: 'delivery.mode', found: '"x"', expected: 'one of a, b', where: 'F' }

describe('a failure', () => {
  it('of a feature has its code, text and suggestion, and status 1', () => {
    const { status, text, json } = report(new AppError('PROJECT_DISABLED', 'It is disabled.'))
    assert.equal(status, 1)
    assert.match(text, /^pillarbox: It is disabled\.\nAsk the operator.*\n$/)
    assert.equal(json.error.code, 'PROJECT_DISABLED')
    assert.equal(json.error.message, 'It is disabled.')
  })

  it('of the database names the file and the reason', () => {
    const full = new Error('database or disk is full')
    const cause = Object.assign(full, { code: 'SQLITE_FULL' })
    const { status, text, json } = report(databaseError(cause, '/srv/mail.db'))
    assert.equal(status, 1)
    assert.match(text, /^pillarbox: The database \/srv\/mail\.db cannot be used: .*disk is full/)
    assert.equal(json.error.code, 'DATABASE_ERROR')
  })

  it('of the command line has status 2', () => {
    const { status, text, json } = report(new UsageError('which one?'))
    assert.equal(status, 2)
    assert.match(text, /^pillarbox: which one\?\nRun "pillarbox --help"/)
    assert.deepEqual(json, { error: { code: 'WRONG_USAGE', message: 'which one?' } })
  })

  it('of an input names its fields and has status 2', () => {
    const { status, text, json } = report(invalidField('email', 'invalid_string', 'Not an address'))
    assert.equal(status, 2)
    assert.match(text, /^pillarbox: .*\n {2}email: Not an address\n$/)
    assert.equal(json.error.errors[0].field, 'email')
  })

  it('of the configuration names every problem and has status 2', () => {
    const { status, text, json } = report(new ConfigError([problem]))
    assert.equal(status, 2)
    assert.match(text, /delivery\.mode: found "x", expected one of a, b \(F\)\n$/)
    assert.equal(json.error.code, 'INVALID_CONFIGURATION')
    assert.deepEqual(json.error.problems, [problem])
  })

  it('of the system comes with advice and without a trace', () => {
    const { status, text } = report(busy)
    assert.equal(status, 1)
    assert.match(
      text,
      /EADDRINUSE.*\nAnother program listens on this address \("ss -ltnp" shows which\); .*\n$/,
    )
  })

  it('of the program itself shows a stack trace', () => {
    const { status, text, json } = report(new TypeError('of undefined'))
    assert.equal(status, 1)
    assert.match(text, /^pillarbox: of undefined\n +at /)
    assert.deepEqual(json, { error: { code: 'INTERNAL_SERVER_ERROR', message: 'of undefined' } })
    assert.equal(report('thrown').json.error.message, 'thrown')
  })

  it('has the --config of the command line in its advice, and quotes people as they are', () => {
    const typed = typedLike(['--config', 'a.toml'], ['domain add'])
    const quoting = 'pillarbox domain news'
    const suggestion = 'Run pillarbox domain add'
    for (const isJson of [true, false]) {
      for (const error of [
        new AppError('CONFLICT', quoting, { suggestion }),
        new Error(quoting),
        invalidField('subject', 'custom', quoting),
      ]) {
        const terminal = makeTerminal({ cwd: '/' })
        writeFailure(terminal, error, { isJson, typed })
        assert.ok(terminal.err().includes(quoting), terminal.err())
        const isAdvised = terminal.err().includes('Run pillarbox --config a.toml domain add')
        assert.equal(isAdvised, error.message === quoting && 'suggestion' in error, terminal.err())
      }
      const terminal = makeTerminal({ cwd: '/' })
      writeFailure(terminal, new UsageError(suggestion), { isJson, typed })
      assert.ok(terminal.err().includes('Run pillarbox --config a.toml domain add'))
    }
  })

  it('has its control characters escaped', () => {
    const { text } = report(new AppError('CONFLICT', 'no \x1b[2J such'))
    assert.match(text, /no \\x1b\[2J such/)
  })
})
