import { describePages } from './run-pages.ts'

describePages('c', 'e')
