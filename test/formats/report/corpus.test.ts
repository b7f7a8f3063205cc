/**
 * Compares the reports of real bounces (../shared/corpus/bounces) with the results that the library
 * expects for which they were collected. Intended differences: a report of a delay is never hard;
 * 5.1.1 with `mailbox does not exist` is an unknown user, not `filtered`; a quoted 5yz `no such user`
 * is an unknown user even if the report names no command (that library calls nine of these
 * `filtered`), unless the end of the data, X.2.1, a policy code or the provider contradicts it.
 */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { type Report, readReport } from '../../../src/formats/report/read-report.ts'

type Expected = { status: string | null; hard: boolean; reason: string; feedbackType?: string }
type Score = { right: number; of: number; least: number }

const CORPUS = path.join(import.meta.dirname, '../../../../shared/corpus/bounces')
const skip = existsSync(CORPUS) ? false : 'the corpus ../shared/corpus is not there'

test('real bounces are classified as expected', { skip }, (t) => {
  const names: [string, Expected[]][] = Object.entries(
    JSON.parse(readFileSync(path.join(CORPUS, 'expected.json'), 'utf8')),
  )
  assert.ok(names.length > 300)
  const scores: Record<string, Score> = {
    kind: { right: 0, of: 0, least: 0.99 },
    'hard or not': { right: 0, of: 0, least: 0.94 },
    reason: { right: 0, of: 0, least: 0.92 },
    status: { right: 0, of: 0, least: 0.97 },
    'feedback type': { right: 0, of: 0, least: 0.9 },
  }
  const count = (name: string, isRight: boolean) => {
    const score = scores[name]
    assert.ok(score)
    score.of += 1
    if (isRight) score.right += 1
  }
  for (const [name, expected] of names) {
    compare(readReport(readFileSync(path.join(CORPUS, name))), expected, count)
  }
  for (const [name, { right, of, least }] of Object.entries(scores)) {
    const share = `${((100 * right) / of).toFixed(1)}%`
    t.diagnostic(`${name.padEnd(14)} ${String(right).padStart(3)} of ${of}  ${share}`)
    assert.ok(right / of >= least, `${name}: ${share}`)
  }
})

type Count = (name: string, isRight: boolean) => void

function compare(report: Report, expected: readonly Expected[], count: Count): void {
  count('kind', report.kind === kindOf(expected))
  for (const [index, { hard, reason, status, feedbackType }] of expected.entries()) {
    const got = report.recipients[index]
    count('hard or not', got !== undefined && (got.class === 'hard') === hard)
    count('reason', got?.reason === reason)
    if (!/\.9\d\d$/.test(status ?? '')) count('status', got !== undefined && got.status === status)
    if (feedbackType !== undefined) count('feedback type', report.feedbackType === feedbackType)
  }
}

function kindOf([first]: readonly Expected[]): Report['kind'] {
  if (first?.reason === 'feedback') return 'complaint'
  return first?.reason === 'vacation' ? 'auto-reply' : 'bounce'
}
