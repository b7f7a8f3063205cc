/**
 * Builds the seeded database: a million contacts, five million events and five million emails in
 * several projects, in the form in which the program would have written them.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import Database from 'better-sqlite3'
import { fillContacts } from './contacts.ts'
import { fillEmails } from './emails.ts'
import { EVENTS_OF_AN_EMAIL, fillEvents } from './events.ts'
import { type Plan, SECRET } from './plan.ts'
import type { Progress } from './progress.ts'
import { makeProjects } from './projects.ts'
import { fillSegments } from './segments.ts'

/** The share of the events that emails cause. */
const EMAIL_EVENTS = 0.4

/** Builds the database in its own folder and returns the file. The same plan gives the same rows. */
export async function buildDatabase(
  folder: string,
  plan: Plan,
  progress: Progress,
): Promise<string> {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const configFile = path.join(folder, 'pillarbox.toml')
  writeFileSync(configFile, `secret = "${SECRET}"\n`, { mode: 0o600 })
  const { file, projects } = await makeProjects(configFile)
  const database = new Database(file)
  try {
    // Unsafe settings are fine here: a failed build is deleted.
    database.unsafeMode()
    database.exec(`pragma journal_mode = delete; pragma journal_mode = off;
      pragma synchronous = off; pragma locking_mode = exclusive; pragma foreign_keys = off;
      pragma cache_size = -1000000; pragma threads = 2`)
    const contacts = fillContacts(database, plan, { projects, progress })
    const traced = Math.floor((plan.events * EMAIL_EVENTS) / EVENTS_OF_AN_EMAIL)
    const traces = fillEmails(database, plan, { projects, contacts, progress, traced })
    fillEvents(database, plan, { projects, contacts, traces, progress })
    fillSegments(database, plan, { projects, progress })
    // The benchmarks measure no first run of a follower.
    database.exec('update event_followers set seq = (select max(seq) from events)')
    progress.step('writing')
    database.exec('pragma locking_mode = normal; pragma journal_mode = wal')
  } finally {
    database.close()
  }
  progress.end()
  return file
}
