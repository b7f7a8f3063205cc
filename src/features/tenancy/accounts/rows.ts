/** Rows of accounts as they are stored: the types that edges and features name. */
export type { LoginSession, Project } from '../../../store/schema/accounts.ts'
export type { Role } from '../../../store/schema/words.ts'
