/**
 * The form of commits: `type(room): imperative`, at most 65 characters. The hook `scripts/hooks/commit-msg` calls this
 * file with the file of the message; a test checks the commits that came after the rule.
 */
import { readFileSync } from 'node:fs'

const MAX_LENGTH = 65
const TYPES = 'build|chore|docs|feat|fix|perf|refactor|revert|style|test'
const FORM = new RegExp(`^(?:${TYPES})(?:\\([a-z0-9,-]+\\))?: [^\\s.](?:.*[^\\s.])?$`)
/** Git writes these subjects; those of `git commit --fixup` disappear in a rebase. */
const BY_GIT = /^(?:Merge |fixup! |squash! |amend! )/

/** Returns the fault of a subject as the end of a sentence, or undefined. */
export function findSubjectFault(subject: string): string | undefined {
  if (BY_GIT.test(subject)) return undefined
  if (subject.length > MAX_LENGTH) {
    return `has ${subject.length} characters, and ${MAX_LENGTH} are allowed`
  }
  if (!FORM.test(subject)) return `is not "type(room): imperative", with a type of ${TYPES}`
  return undefined
}

/** Returns the fault of a message as git gives it to a hook, with lines of comments. */
export function findMessageFault(message: string): string | undefined {
  const [subject = '', blank = ''] = message.split('\n').filter((line) => !line.startsWith('#'))
  const fault = findSubjectFault(subject)
  if (fault !== undefined) return `the subject "${subject}" ${fault}`
  return blank.trim() === '' ? undefined : 'the line after the subject is not empty'
}

if (import.meta.main) {
  const fault = findMessageFault(readFileSync(process.argv[2] ?? '', 'utf8'))
  if (fault !== undefined) {
    console.error(`commit refused: ${fault} (src/docs/contributing.md)`)
    process.exitCode = 1
  }
}
