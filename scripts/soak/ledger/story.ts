/** The story of what did not match: its attempts, what receivers saw, and its lines of the log. */
import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import Database from 'better-sqlite3'
import type { History } from '../history/history.ts'

const MAX_LINES = 12
const MAX_LENGTH = 300

export type Story = { id: string; lines: string[] }

/** `ids`: of findings. */
export async function tellStories(
  { database, logFile }: { database: string; logFile: string },
  history: History,
  ids: readonly string[],
): Promise<Story[]> {
  const stories = ids.map((id) => ({ id, lines: [...readAttempts(database, id)] }))
  for (const { id, lines } of stories) lines.push(...tellOutside(history, id))
  for await (const line of createInterface({ input: createReadStream(logFile) })) {
    for (const { id, lines } of stories) {
      if (id.length > 4 && line.includes(id)) lines.push(`log ${line.slice(0, MAX_LENGTH)}`)
    }
  }
  return stories.map(({ id, lines }) => ({ id, lines: shorten(lines) }))
}

function readAttempts(file: string, id: string): string[] {
  const db = new Database(file, { readonly: true })
  try {
    const rows = db
      .prepare(
        `select at, duration_ms as ms, result, host, reply_code as code, reply_text as text, error
        from attempts where email_id = ? order by id`,
      )
      .all(id) as { at: number }[]
    return rows.map(({ at, ...rest }) => `attempt ${timeOf(at)} ${JSON.stringify(rest)}`)
  } finally {
    db.close()
  }
}

function tellOutside(history: History, id: string): string[] {
  const { arrivals, refusals, hooks, reports, cancellations } = history
  return [
    ...arrivals
      .filter(({ emailId }) => emailId === id)
      .map(({ at, site, repliedAt }) => {
        const end = repliedAt === null ? 'no answer' : `250 at ${timeOf(repliedAt)}`
        return `receiver ${timeOf(at)} ${site}: final dot, ${end}`
      }),
    ...refusals
      .filter(({ emailId }) => emailId === id)
      .map(({ at, site }) => `receiver ${timeOf(at)} ${site}: refused for good`),
    ...hooks
      .filter((hook) => hook.id === id)
      .map(({ at, path, status }) => `webhook ${timeOf(at)} ${path}: ${status}`),
    ...reports
      .filter(({ emailId }) => emailId === id)
      .map(({ kind, outcome, tries }) => `${kind}: ${outcome} after ${tries} tries`),
    ...cancellations
      .filter((each) => each.id === id)
      .map(({ outcome }) => `cancellation: ${outcome}`),
  ]
}

function shorten(lines: string[]): string[] {
  if (lines.length <= MAX_LINES) return lines
  return [...lines.slice(0, MAX_LINES), `… and ${lines.length - MAX_LINES} more lines`]
}

function timeOf(at: number): string {
  return new Date(at).toISOString().slice(11, -1)
}
