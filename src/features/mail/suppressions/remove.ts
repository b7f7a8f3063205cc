/**
 * Removes addresses from the suppression list: mail may be sent to them again, and their strikes
 * are deleted. The subscription of their contacts stays as it is.
 */
import { type AppError, notFound } from '../../../base/errors.ts'
import type { ParsedAddress } from '../../../formats/address/address.ts'
import { and, eq } from '../../../store/drizzle.ts'
import { suppressions } from '../../../store/schema/suppressions.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Base } from '../../ground/base.ts'
import { deleteStrikesOf } from '../messages/outcome/strikes.ts'

type Deps = Pick<Base, 'store'>

const deleteById = statement((db) =>
  db
    .delete(suppressions)
    .where(
      and(eq(suppressions.id, parameter('id')), eq(suppressions.projectId, parameter('projectId'))),
    )
    .returning({ address: suppressions.address }),
)

const deleteByAddress = statement((db) =>
  db
    .delete(suppressions)
    .where(
      and(
        eq(suppressions.projectId, parameter('projectId')),
        eq(suppressions.address, parameter('address')),
      ),
    ),
)

/** @throws AppError RESOURCE_NOT_FOUND, also for an entry of another project */
export async function removeSuppression(
  { store }: Deps,
  { projectId, id }: { projectId: string; id: string },
): Promise<void> {
  await store.write(async (tx) => {
    const removed = await tx.find(deleteById, { projectId, id })
    if (removed === undefined) throw suppressionNotFound(id)
    await deleteStrikesOf(tx, { projectId, address: removed.address })
  })
}

/** Returns how many were removed; addresses that are not on the list are ignored. */
export async function removeAddresses(
  { store }: Deps,
  { projectId, addresses }: { projectId: string; addresses: readonly ParsedAddress[] },
): Promise<number> {
  return store.write(async (tx) => {
    let removed = 0
    for (const { address } of addresses) {
      if ((await tx.execute(deleteByAddress, { projectId, address })) === 0) continue
      await deleteStrikesOf(tx, { projectId, address })
      removed += 1
    }
    return removed
  })
}

function suppressionNotFound(id: string): AppError {
  return notFound('suppression', id, 'The suppression list has no entry with that id.')
}
