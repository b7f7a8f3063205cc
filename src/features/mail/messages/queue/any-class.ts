/**
 * A condition that is true for every email. The index `emails_ready` begins with the class: with
 * this term SQLite can seek by the columns after it. The term is literal, because SQLite does not
 * match parameters with the terms of an index.
 */
import { QUEUE_CLASSES } from '../../../../base/queue-class.ts'
import { sql } from '../../../../store/drizzle.ts'

export const ANY_CLASS_TERM = `queue_class in (${QUEUE_CLASSES.join(', ')})`

export const ANY_CLASS = sql.raw(ANY_CLASS_TERM)
