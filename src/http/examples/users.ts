import type { Examples } from './operation-example.ts'

export const userExamples: Examples = {}
