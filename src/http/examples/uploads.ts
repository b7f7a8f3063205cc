import type { Examples } from './operation-example.ts'

export const uploadExamples: Examples = {}
