import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type Input, UsageError } from '../../../src/cli/engine/command.ts'
import { readGivenPassword } from '../../../src/cli/options/password.ts'
import { makeTerminal } from '../../fakes/terminal.ts'

function given(options: Record<string, string | true>): Input {
  const text = (option: string) => {
    const value = options[option]
    return typeof value === 'string' ? value : undefined
  }
  const required = (option: string) => text(option) ?? ''
  const choice = () => undefined
  return { args: [], text, required, choice, has: (flag) => options[flag] === true }
}

describe('a password', () => {
  it('is read from standard input without the final line end', async () => {
    const terminal = makeTerminal({ cwd: '/', input: ' pass word \r\n' })
    assert.equal(await readGivenPassword(terminal, given({ passwordStdin: true })), ' pass word ')
  })

  it('comes from the command line with a warning', async () => {
    const terminal = makeTerminal({ cwd: '/' })
    assert.equal(await readGivenPassword(terminal, given({ password: 'open' })), 'open')
    assert.match(terminal.err(), /^pillarbox: warning: --password .*--password-stdin\n$/)
  })

  it('is refused when both options are given', async () => {
    const both = given({ password: 'x', passwordStdin: true })
    await assert.rejects(readGivenPassword(makeTerminal({ cwd: '/' }), both), UsageError)
  })

  it('is left undefined without a terminal, so that one is generated', async () => {
    assert.equal(
      await readGivenPassword(makeTerminal({ cwd: '/', input: '' }), given({})),
      undefined,
    )
  })

  it('is asked for twice at a terminal and never echoed', async () => {
    const terminal = makeTerminal({ cwd: '/', isTTY: true })
    terminal.stdin.write('secret word\rsecret word\r')
    assert.equal(await readGivenPassword(terminal, given({})), 'secret word')
    assert.equal(terminal.err(), 'Password (empty: generate one): \nRepeat the password: \n')
    assert.equal(terminal.out(), '')
  })

  it('can be corrected while it is typed', async () => {
    const terminal = makeTerminal({ cwd: '/', isTTY: true })
    terminal.stdin.write('wordz\x7f\rword\r')
    assert.equal(await readGivenPassword(terminal, given({})), 'word')
  })

  it('is left undefined after an empty answer, so that one is generated', async () => {
    const terminal = makeTerminal({ cwd: '/', isTTY: true })
    terminal.stdin.write('\r')
    assert.equal(await readGivenPassword(terminal, given({})), undefined)
  })

  it('is refused when the answers differ or the input ends', async () => {
    for (const typed of ['one\rtwo\r', 'one\r\x03', '\x04']) {
      const terminal = makeTerminal({ cwd: '/', isTTY: true })
      terminal.stdin.write(typed)
      await assert.rejects(readGivenPassword(terminal, given({})), UsageError)
    }
  })
})
