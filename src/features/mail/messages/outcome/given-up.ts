/** The errors that emails store when they are given up. */

/** By an earlier version: `answer was`. */
const TRIED = /^given up[;:] (?:the last (?:attempt ended with|answer was): )?/
const UNTRIED = 'given up, its destination could not be tried in time: '

/** `cause`: the last reply, or the last error without a reply. */
export function giveUpError(cause: string): string {
  return `given up; the last attempt ended with: ${cause}`
}

/** `reason`: why the site of the email took nothing. */
export function untriedError(reason: string): string {
  return `${UNTRIED}${reason}`
}

/** Reads an error that was stored; undefined if the email was not given up. */
export function readGiveUpError(error: string): { isTried: boolean; cause: string } | undefined {
  if (error.startsWith(UNTRIED)) return { isTried: false, cause: error.slice(UNTRIED.length) }
  return TRIED.test(error) ? { isTried: true, cause: error.replace(TRIED, '') } : undefined
}
