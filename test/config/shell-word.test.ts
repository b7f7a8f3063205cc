import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { operand, quoteWord } from '../../src/config/shell-word.ts'

const cases: [word: string, quoted: string][] = [
  ['/etc/pillarbox/pillarbox.toml', '/etc/pillarbox/pillarbox.toml'],
  ['Grüße/日本', 'Grüße/日本'],
  ['', "''"],
  ['a b', "'a b'"],
  ["it's $HOME", "'it'\\''s $HOME'"],
  ['~/a', "'~/a'"],
  ['a\\b', "'a\\b'"],
  ['a\nb', "$'a\\012b'"],
  ["it's\t\\1", "$'it\\'s\\011\\\\1'"],
  ['\x1b[31m1', "$'\\033[31m1'"],
  ['a\u202eb\u2028', "$'a\\342\\200\\256b\\342\\200\\250'"],
]

test('a word of a command is quoted where a shell needs it, on one line', () => {
  for (const [word, quoted] of cases) assert.equal(quoteWord(word), quoted)
})

const bash = spawnSync('bash', ['-c', 'true'])
const skip = bash.error !== undefined && 'bash is not installed'

test('a shell reads the same word', { skip }, () => {
  for (const [word, quoted] of cases) {
    const { stdout } = spawnSync('bash', ['-c', `printf %s ${quoted}`], { encoding: 'utf8' })
    assert.equal(stdout, word)
  }
})

test('an operand that begins as an option does follows --', () => {
  assert.deepEqual([operand('-x@a.test'), operand('x@a.test')], [['--', '-x@a.test'], ['x@a.test']])
})
