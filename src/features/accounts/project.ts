/** A project as it is stored: the type that edges and features name. */
export type { Project } from '../../store/schema/accounts.ts'
