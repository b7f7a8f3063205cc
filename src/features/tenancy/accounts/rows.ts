/** Rows of accounts as they are stored: the types that edges and features name. */
export type { Project, Session } from '../../../store/schema/accounts.ts'
export type { Role } from '../../../store/schema/words.ts'
