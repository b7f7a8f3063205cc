/** An email with its attempts and reports, as `queue show` prints it. */
import { type AppError, notFound } from '../../../../base/errors.ts'
import { eq } from '../../../../store/drizzle.ts'
import { type Attempt, attempts, type Email, emails } from '../../../../store/schema/messages.ts'
import { withRepeated } from '../../../../store/schema/packed-steps.ts'
import type { Base } from '../../../ground/base.ts'

export type EmailHistory = { email: Email; attempts: Attempt[] }

/** `attempts`: oldest first. @throws AppError RESOURCE_NOT_FOUND */
export async function getEmailHistory(
  { store }: Pick<Base, 'store'>,
  id: string,
): Promise<EmailHistory> {
  const email = await store.read.select().from(emails).where(eq(emails.id, id)).get()
  if (email === undefined) {
    throw emailNotFound(id)
  }
  const rows = await store.read
    .select()
    .from(attempts)
    .where(eq(attempts.emailId, id))
    .orderBy(attempts.id)
    .all()
  const history = rows.map((row) => ({ ...row, steps: withRepeated(row.steps, row) }))
  return { email, attempts: history }
}

export function emailNotFound(id: string): AppError {
  return notFound('email', id, `There is no email ${id}.`)
}
