import type { FaultFields, Options, Verbs } from './types.d.ts'

export type { FaultFields, Options }

export interface StoredRecord {
  partition: number
  offset: number
  key: string | null
  value: string | null
  timestampMs: number
}

export interface CommittedOffset {
  topic: string
  partition: number
  offset: number
  metadata: string
}

export interface Fault {
  readonly name: string
  hits(): Promise<number>
  wait(hits?: number, options?: { timeout?: number }): Promise<void>
  pause(): Promise<void>
  release(): Promise<void>
  remove(): Promise<void>
  assertFired(): Promise<void>
}

export interface Cluster extends Verbs {
  readonly id: string
  readonly bootstrapServers: string
  readonly controlUrl: string
  readonly kafka: string
  readonly brokers: number
  readonly clusterId: string
  addFault(fault: FaultFields): Promise<Fault>
  records(topic: string): Promise<StoredRecord[]>
  committed(group: string): Promise<CommittedOffset[]>
  hints(): Promise<string[]>
  trace(): Promise<Record<string, unknown>[]>
  close(): Promise<void>
  drop(): Promise<void>
}

export class MockBrokerError extends Error {
  readonly field?: string
}

export function start(options?: Options): Promise<Cluster>
export function withCluster<T>(options: Options, test: (cluster: Cluster) => Promise<T>): Promise<T>
