/**
 * drizzle-orm, loaded as CommonJS: its ES modules cost every process 0.6 s and 180 MB, and this
 * build costs a sixth of both. The bundler replaces this file by a plain re-export
 * (`scripts/bundle.ts`).
 */
import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)
const core = require('drizzle-orm') as typeof import('drizzle-orm')
const sqlite = require('drizzle-orm/sqlite-core') as typeof import('drizzle-orm/sqlite-core')
const proxy = require('drizzle-orm/sqlite-proxy') as typeof import('drizzle-orm/sqlite-proxy')

export const {
  and,
  asc,
  Column,
  count,
  desc,
  eq,
  fillPlaceholders,
  getTableColumns,
  getTableName,
  gt,
  gte,
  inArray,
  is,
  isNotNull,
  isNull,
  like,
  lt,
  lte,
  max,
  min,
  ne,
  not,
  notInArray,
  or,
  Param,
  Placeholder,
  sql,
} = core
export const {
  blob,
  customType,
  index,
  integer,
  primaryKey,
  SQLiteAsyncDialect,
  sqliteTable,
  sqliteView,
  text,
  uniqueIndex,
} = sqlite
export const {
  drizzle,
  RemotePreparedQuery,
  SqliteRemoteDatabase: RemoteDatabase,
  SQLiteRemoteSession,
} = proxy
export type { InferInsertModel, InferSelectModel, Query, SQL } from 'drizzle-orm'
export type { SelectedFieldsOrdered, SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
export type { SqliteRemoteDatabase, SqliteRemoteResult } from 'drizzle-orm/sqlite-proxy'
