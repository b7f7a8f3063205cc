/** The keys of a project that were just made, in memory only, until somebody has kept them. */
import { signal } from '@preact/signals'

export type NewKeyPair = { projectId: string; secret: string; public: string }

export const freshKeys = signal<NewKeyPair | undefined>(undefined)
