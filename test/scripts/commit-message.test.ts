import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import path from 'node:path'
import { describe, it } from 'node:test'
import { findMessageFault, findSubjectFault } from '../../scripts/commit-message.ts'

const ROOT = path.join(import.meta.dirname, '../..')
/** The commit before the first one that the rule is for. */
const SINCE = 'a87cdd0d8f221ca7e999bbc61d10a48871ab97fa'

/** Commits that were made without the hook, and merged. */
const EXCEPTED = [
  '90852052744bd8b576701daf245d95c88e45d94b',
  'ba079093f4e857e36aad51832500cca139c65867',
  'c55c22d9e98fce5557ac0a4072aa99f2ab717b15',
]

const subjects: [subject: string, fault?: RegExp][] = [
  ['fix(outbound): try the next MX after a 421 greeting'],
  ['docs: say what an idle server takes'],
  ['perf(inbound,outbound): end rests early'],
  [`fix: ${'a'.repeat(60)}`],
  [`fix: ${'a'.repeat(61)}`, /has 66 characters, and 65 are allowed/],
  ['try the next MX', /is not "type\(room\): imperative"/],
  ['bench: warm up', /is not "type/],
  ['fix(outbound) try', /is not "type/],
  ['fix(Outbound): try', /is not "type/],
  ['fix(): try', /is not "type/],
  ['fix:  try', /is not "type/],
  ['fix: try.', /is not "type/],
  ['fix: ', /is not "type/],
  ['', /is not "type/],
  [`Merge branch '${'a'.repeat(80)}'`],
  ['fixup! fix(outbound): try the next MX after a 421 greeting, and another one'],
]

describe('the subject of a commit', () => {
  for (const [subject, fault] of subjects) {
    it(`${JSON.stringify(subject)} ${fault === undefined ? 'passes' : 'is refused'}`, () => {
      const found = findSubjectFault(subject)
      if (fault === undefined) assert.equal(found, undefined)
      else assert.match(found ?? '', fault)
    })
  }
})

describe('the message of a commit', () => {
  it('has an empty line after the subject, beside lines of comments', () => {
    assert.equal(findMessageFault('# a hint\nfix: try\n\nWhy.\n'), undefined)
    assert.equal(findMessageFault('fix: try\n'), undefined)
    assert.match(findMessageFault('fix: try\nWhy.\n') ?? '', /line after the subject/)
    assert.match(findMessageFault('try\n\nWhy.\n') ?? '', /the subject "try" is not/)
  })
})

describe('the commits since the rule', () => {
  it('have its form', (t) => {
    const commits = listCommits()
    if (typeof commits === 'string') return t.skip(commits)
    const faults = commits.flatMap(([hash = '', subject = '']) => {
      if (EXCEPTED.includes(hash)) return []
      const fault = findSubjectFault(subject)
      return fault === undefined ? [] : `${hash.slice(0, 12)} "${subject}" ${fault}`
    })
    assert.deepEqual(faults, [])
  })
})

/** Pairs of hash and subject, without merges; or why there are none. */
function listCommits(): string[][] | string {
  const git = (...argv: string[]) =>
    execFileSync('git', ['-C', ROOT, ...argv], { encoding: 'utf8', stdio: 'pipe' })
  try {
    git('merge-base', '--is-ancestor', SINCE, 'HEAD')
  } catch {
    return `no git, or no history back to ${SINCE}`
  }
  const log = git('log', '--no-merges', '--format=%H%x09%s', `${SINCE}..HEAD`)
  return log
    .split('\n')
    .filter(Boolean)
    .map((line) => line.split('\t'))
}
