/** What every database must satisfy of `emails.shelf` (`store/shelves.ts`). */
import { sql } from '../src/store/drizzle.ts'
import { shelfNow } from '../src/store/shelves.ts'
import type { Store } from '../src/store/store.ts'

export type MisplacedEmail = { id: string; state: string; status: string; shelf: number | null }

/** The emails whose shelf is not that of their state and status, and those that are final and sealed. */
export function listMisplaced({ read }: Pick<Store, 'read'>): Promise<MisplacedEmail[]> {
  return read.all<MisplacedEmail>(sql`select id, state, status, shelf from emails
    where case when state = 'sending' and campaign_id is not null then shelf is null or shelf not in (8, 9)
        else shelf is not ${shelfNow} end
      or sealed_variables is not null
        and state not in ('queued', 'deferred', 'held', 'paused', 'sending')`)
}

/** A test may have closed the store. Any other error is a finding, which fails the test after its cleaning. */
export function unlessClosed(error: unknown): unknown[] {
  return /The database connection is not open/.test(String(error)) ? [] : [error]
}
