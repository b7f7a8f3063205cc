/**
 * Whether the server can be set up in a browser: as long as no user may log in. The sandbox's user counts in
 * the sandbox only, so a server that leaves the sandbox can be set up.
 */
import { AppError } from '../../../../base/errors.ts'
import { sql } from '../../../../store/drizzle.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'

/** The look ends at the first user who counts. Only the user of the sandbox may stand before that one. */
const findCounted = statement<{ found: number }>(
  () => sql`select 1 as found from users where is_sandbox <= ${parameter('most')} limit 1`,
)

export async function isSetupOpen(
  { config }: Pick<Base, 'config'>,
  queries: Pick<Tx, 'find'>,
): Promise<boolean> {
  const most = config.delivery.mode === 'sandbox' ? 1 : 0
  return (await queries.find(findCounted, { most })) === undefined
}

/**
 * Nobody becomes a user before the first user is made, because any user ends the set-up.
 * @throws AppError CONFLICT while the server can be set up
 */
export async function refuseBeforeSetup(
  deps: Pick<Base, 'config'>,
  queries: Pick<Tx, 'find'>,
): Promise<void> {
  if (!(await isSetupOpen(deps, queries))) return
  throw new AppError('CONFLICT', 'This server is not set up yet: its first user comes first.', {
    suggestion:
      'Finish the set-up with the link in data_dir/setup-link, or on the server: pillarbox user create --email ADDRESS --operator',
  })
}
