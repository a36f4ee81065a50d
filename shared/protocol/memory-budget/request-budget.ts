// Divides the memory of requests, which is two thirds of the budget, of which large requests leave a quarter to small
// requests. A request takes its memory before its body is read. A request that finds no memory waits in line and has no
// memory. Workspaces take turns, newcomers first. While others wait, a workspace that has half lets them pass, and an
// upload that is slow gives its memory up.
import { fail, type GatewayError } from '../../errors/index.ts';
import type { Clock } from '../../foundation/time/index.ts';
import { memoryFull } from './answer-budget.ts';

/** Size up to which a call counts as small. */
export const smallBodyMaxBytes = 64 * 1024;

/** Longest wait, from the head of a call. A refusal that is late by the turns of large bodies leaves within 2 s. */
const waitMaxMs = 1_500;
/** Maximum waiting calls of one workspace, which is as many as may arrive at once. */
const waitingMax = 1_024;
/** Time for which a waiting call whose turn it is may delay others. After this time others pass it. */
const turnMaxMs = 500;
/** Time for a whole upload; each second of it is judged by the same speed. */
const uploadMaxMs = 30_000;
const judgedEveryMs = 1_000;

export interface RequestTake {
  readonly workspace: string;
  readonly bytes: number;
  /** True if the body is longer than a small body. */
  readonly isLarge: boolean;
  /** The body that is about to be read. Until the first release it is judged by its speed. */
  readonly upload?: Upload | undefined;
  /** Aborts when the client has left. */
  readonly gone?: AbortSignal | undefined;
  /** True for memory that the head of the call asks for. Its wait counts from the arrival of the head. */
  readonly isOfHead?: boolean | undefined;
}

interface Upload {
  /** Declared length of the upload, else its bound. */
  readonly lengthBytes: number;
  /** Returns the bytes that have arrived. */
  readonly cameBytes: () => number;
  /** Called when it has lost its memory. */
  readonly giveUp: (refusal: GatewayError) => void;
}

export interface RequestHolder {
  readonly headArrivedAtMs: number;
  workspace: string;
  bytes: number;
  size: Size;
  upload: JudgedUpload | undefined;
  /** Ends its wait. */
  leave: (() => void) | undefined;
}

export const openHolder = (headArrivedAtMs: number): RequestHolder => ({
  ...{ headArrivedAtMs, workspace: '', bytes: 0, size: 'small', upload: undefined, leave: undefined },
});

interface JudgedUpload extends Upload {
  readonly bytesPerSecond: number;
  /** Bytes at the last judgement; undefined before the first judgement. */
  seenBytes: number | undefined;
}

type Size = 'small' | 'large';

interface Waiting {
  readonly holder: RequestHolder;
  readonly bytes: number;
  readonly take: RequestTake;
  readonly letIn: () => void;
  /** State of its turn; others pass it once its turn is over. */
  turn: 'none' | 'begun' | 'over';
  isLetIn: boolean;
}

export class RequestBudget {
  bytes = 0;
  readonly #clock: Clock;
  readonly #maxBytes: number;
  readonly #lines: Readonly<Record<Size, Line>>;
  #copiesBytes = 0;
  readonly #copiesMaxBytes: number;
  readonly #uploads = new Set<RequestHolder>();
  #isJudging = false;
  /** The one call that may exceed its count until it gives memory back. Calls that all wait to grow would never end. */
  #beyond: RequestHolder | undefined;

  /** `copiesMaxBytes` is the part of the budget for copies that no call waits for. */
  constructor(
    clock: Clock,
    { maxBytes, copiesMaxBytes }: { readonly maxBytes: number; readonly copiesMaxBytes: number },
  ) {
    this.#clock = clock;
    this.#maxBytes = maxBytes;
    this.#copiesMaxBytes = copiesMaxBytes;
    this.#lines = { small: new Line(maxBytes), large: new Line(Math.floor((maxBytes * 3) / 4)) };
  }

  /** Raises the memory of a request to this many bytes. Returns undefined if it is free at once. */
  take(holder: RequestHolder, take: RequestTake): Promise<void> | undefined {
    const size = take.isLarge ? 'large' : holder.size;
    const line = this.#lines[size];
    // A call that is larger than the whole line's memory counts as the whole memory, and is served alone.
    const bytes = Math.min(Math.ceil(take.bytes), line.maxBytes);
    if (holder.bytes === 0) holder.workspace = take.workspace;
    if (this.#beyond === holder || (bytes <= holder.bytes && size === holder.size)) return undefined;
    // A call that was admitted passes the calls that wait, because its memory becomes free only when it continues.
    const isIn = holder.bytes > 0 && holder.size === size;
    if ((isIn || line.isEmpty()) && this.#fits(line, holder, bytes)) {
      this.#letIn(line, holder, bytes, take);
      return undefined;
    }
    return this.#wait(line, holder, bytes, take);
  }

  /** Releases everything, and ends the waits. */
  end(holder: RequestHolder): void {
    holder.leave?.();
    this.keepOnly(holder, 0);
  }

  /** Releases all but this many bytes. */
  keepOnly(holder: RequestHolder, maxBytes: number): void {
    const bytes = Math.ceil(maxBytes);
    holder.upload = undefined;
    this.#uploads.delete(holder);
    if (bytes >= holder.bytes) return;
    if (this.#beyond === holder) this.#beyond = undefined;
    this.#count(this.#lines[holder.size], holder, bytes);
    this.serve();
  }

  /** Reserves memory for copies that no call waits for; false if none is free at once. */
  takeCopies(bytes: number): boolean {
    if (this.#copiesBytes + bytes > this.#copiesMaxBytes || this.bytes + bytes > this.#maxBytes) return false;
    this.#copiesBytes += bytes;
    this.bytes += bytes;
    return true;
  }

  dropCopies(bytes: number): void {
    this.#copiesBytes -= bytes;
    this.bytes -= bytes;
    this.serve();
  }

  /** Admits the calls for which there is memory now. */
  serve(): void {
    for (const size of sizes) this.#serveLine(this.#lines[size]);
  }

  #serveLine(line: Line): void {
    for (;;) {
      const next = line.isEmpty() ? undefined : line.next((waiting) => this.#mayEnter(line, waiting));
      if (next === undefined) return;
      line.remove(next);
      next.isLetIn = true;
      if (this.#fits(line, next.holder, next.bytes)) this.#letIn(line, next.holder, next.bytes, next.take);
      else this.#beyond = next.holder;
      next.letIn();
    }
  }

  /** Decides whether a call may enter. The call whose turn it is, and later calls, wait for memory for a while. */
  #mayEnter(line: Line, waiting: Waiting): Turn {
    if (this.#fits(line, waiting.holder, waiting.bytes)) return 'enters';
    if (waiting.turn === 'none') {
      waiting.turn = 'begun';
      this.#clock.after(turnMaxMs, () => {
        waiting.turn = 'over';
        this.#serveLine(line);
      });
    }
    if (waiting.turn === 'begun') return 'waits';
    return isGrowing(waiting) && this.#beyond === undefined ? 'enters' : 'passed';
  }

  #fits(line: Line, holder: RequestHolder, bytes: number): boolean {
    const holderBytes = this.#lines[holder.size] === line ? holder.bytes : 0;
    return line.bytes - holderBytes + bytes <= line.maxBytes && this.bytes - holder.bytes + bytes <= this.#maxBytes;
  }

  #letIn(line: Line, holder: RequestHolder, bytes: number, { upload }: RequestTake): void {
    if (line === this.#lines.large && holder.size === 'small') {
      this.#count(this.#lines.small, holder, 0);
      holder.size = 'large';
    }
    line.letInBytes += bytes - holder.bytes;
    this.#count(line, holder, bytes);
    line.wasLetIn(holder.workspace);
    if (upload === undefined) return;
    holder.upload = {
      ...upload,
      bytesPerSecond: (upload.lengthBytes * judgedEveryMs) / uploadMaxMs,
      seenBytes: undefined,
    };
    this.#uploads.add(holder);
  }

  #count(line: Line, holder: RequestHolder, bytes: number): void {
    const growth = bytes - holder.bytes;
    holder.bytes = bytes;
    this.bytes += growth;
    line.count(holder.workspace, growth);
  }

  #wait(line: Line, holder: RequestHolder, bytes: number, take: RequestTake): Promise<void> | undefined {
    // A body that waits does not arrive, and is not judged.
    this.#uploads.delete(holder);
    const [letInBefore, nowMs] = [line.letInBytes, this.#clock.nowMs()];
    const waitMs = take.isOfHead === true ? Math.max(0, holder.headArrivedAtMs + waitMaxMs - nowMs) : waitMaxMs;
    if (waitMs === 0 || line.waitingOf(take.workspace) >= waitingMax)
      return Promise.reject(this.#refusal(line, line.waitingBytes + bytes, take.workspace));
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiting: Waiting = { holder, bytes, take, letIn: resolve, turn: 'none', isLetIn: false };
    line.add(waiting);
    this.#serveLine(line);
    if (waiting.isLetIn) return undefined;
    this.#judgeUploads();
    const leave = (error: GatewayError) => {
      line.remove(waiting);
      this.#serveLine(line);
      reject(error);
    };
    const letIn = () => ({ bytes: line.letInBytes - letInBefore, inMs: waitMs });
    const refuse = () => leave(this.#refusal(line, line.waitingBytes, take.workspace, letIn()));
    const cancel = this.#clock.after(waitMs, refuse);
    const cancelWait = () => leave(fail('invalid_request', { message: 'The call ended before its request was read.' }));
    holder.leave = cancelWait;
    take.gone?.addEventListener('abort', cancelWait, { once: true });
    return promise.finally(() => {
      cancel();
      holder.leave = undefined;
      take.gone?.removeEventListener('abort', cancelWait);
    });
  }

  /** Returns the refusal. `letIn` are the bytes of others that were admitted while it waited. */
  #refusal(line: Line, waitingBytes: number, workspace: string, letIn = { bytes: 0, inMs: 0 }): GatewayError {
    const ms = letIn.bytes === 0 ? uploadMaxMs : (waitingBytes * letIn.inMs) / letIn.bytes;
    // If a workspace has its share already, the refusal is no evidence about the stage's size.
    const hasHalf = line.hasHalf(workspace, 0);
    return fail('RATE_LIMITER_UNAVAILABLE', {
      message: memoryFull,
      retryAfterSeconds: Math.max(1, Math.ceil(Math.min(uploadMaxMs, ms) / 1_000)),
      ...(hasHalf ? {} : { exhausted: 'process_memory' }),
    });
  }

  /** Judges the uploads each second while calls wait. */
  #judgeUploads(): void {
    if (this.#isJudging) return;
    this.#isJudging = true;
    for (const { upload } of this.#uploads) if (upload !== undefined) upload.seenBytes = upload.cameBytes();
    this.#clock.after(judgedEveryMs, () => {
      this.#isJudging = false;
      if (sizes.every((size) => this.#lines[size].isEmpty())) return;
      for (const holder of [...this.#uploads]) this.#judge(holder);
      if (!sizes.every((size) => this.#lines[size].isEmpty())) this.#judgeUploads();
    });
  }

  #judge(holder: RequestHolder): void {
    const { upload } = holder;
    if (upload?.seenBytes === undefined) return;
    // Small uploads delay no large call.
    if (holder.size === 'small' && this.#lines.small.isEmpty()) return;
    if (upload.cameBytes() - upload.seenBytes >= upload.bytesPerSecond) return;
    this.keepOnly(holder, 0);
    upload.giveUp(fail('RATE_LIMITER_UNAVAILABLE', { message: slow, retryAfterSeconds: 1 }));
  }
}

const sizes = ['small', 'large'] as const;

const slow =
  'The body came too slowly while other calls waited for its memory: it must come within 30 seconds, each second its share.';

/** Returns true for a call that is let in and needs more. */
const isGrowing = ({ holder }: Waiting): boolean => holder.bytes > 0 && holder.size === 'large';

type Turn = 'enters' | 'waits' | 'passed';

/** Admitted and waiting calls of one size. The cost of an admission does not depend on how many calls wait. */
class Line {
  readonly maxBytes: number;
  bytes = 0;
  /** Sum of all bytes that were ever admitted. */
  letInBytes = 0;
  /** Bytes of all calls that wait. */
  waitingBytes = 0;
  /** Waiting calls, first of workspaces that then had no memory, then of the others; both in the sequence of turns. */
  readonly #newcomers = new Map<string, Set<Waiting>>();
  readonly #others = new Map<string, Set<Waiting>>();
  /** Waiting calls that are let in, and need more. */
  readonly #growing = new Set<Waiting>();
  readonly #bytesOf = new Map<string, number>();

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
  }

  isEmpty(): boolean {
    return this.#newcomers.size + this.#others.size === 0;
  }

  waitingOf(workspace: string): number {
    return this.#callsOf(workspace)?.size ?? 0;
  }

  add(waiting: Waiting): void {
    const { take, bytes } = waiting;
    const calls = this.#callsOf(take.workspace);
    const isNewcomer = this.#workspaceBytes(take.workspace) === 0;
    if (calls !== undefined) calls.add(waiting);
    else (isNewcomer ? this.#newcomers : this.#others).set(take.workspace, new Set([waiting]));
    if (isGrowing(waiting)) this.#growing.add(waiting);
    this.waitingBytes += bytes;
  }

  remove(waiting: Waiting): void {
    const { workspace } = waiting.take;
    const calls = this.#callsOf(workspace);
    if (calls?.delete(waiting) !== true) return;
    this.#growing.delete(waiting);
    this.waitingBytes -= waiting.bytes;
    if (calls.size > 0) return;
    this.#newcomers.delete(workspace);
    this.#others.delete(workspace);
  }

  /** The workspace's next turn comes when all others have had theirs. */
  wasLetIn(workspace: string): void {
    const calls = this.#callsOf(workspace);
    if (calls === undefined) return;
    this.#newcomers.delete(workspace);
    this.#others.delete(workspace);
    this.#others.set(workspace, calls);
  }

  count(workspace: string, added: number): void {
    this.bytes += added;
    const bytes = this.#workspaceBytes(workspace) + added;
    if (bytes > 0) this.#bytesOf.set(workspace, bytes);
    else this.#bytesOf.delete(workspace);
  }

  /** Returns true if the workspace has half of the memory with these bytes; never if it has no memory. */
  hasHalf(workspace: string, added: number): boolean {
    const bytes = this.#workspaceBytes(workspace);
    const half = this.maxBytes / 2;
    return added === 0 ? bytes >= half : bytes > 0 && bytes + added > half;
  }

  /** The call that is let in now. */
  next(turnOf: (waiting: Waiting) => Turn): Waiting | undefined {
    for (const waiting of this.#inTurn()) {
      const turn = turnOf(waiting);
      if (turn === 'enters') return waiting;
      if (turn === 'waits') return undefined;
    }
    return undefined;
  }

  /** Growing calls, then the oldest of each workspace. Few calls are passed before a call enters or waits. */
  *#inTurn(): Generator<Waiting> {
    yield* this.#growing;
    const isAlone = this.#newcomers.size + this.#others.size < 2;
    let isAnyWithinHalf = false;
    for (const waiting of this.#oldest()) {
      if (!isAlone && this.hasHalf(waiting.take.workspace, waiting.bytes)) continue;
      isAnyWithinHalf = true;
      yield waiting;
    }
    if (isAnyWithinHalf) return;
    // If each would have more than half, the workspaces that have half already let the others pass.
    for (const waiting of this.#oldest()) if (!this.hasHalf(waiting.take.workspace, 0)) yield waiting;
  }

  /** Yields the calls of each workspace whose turn is over, and the first call whose turn is not. */
  *#oldest(): Generator<Waiting> {
    for (const workspaces of [this.#newcomers, this.#others]) {
      for (const calls of workspaces.values()) {
        for (const waiting of calls) {
          yield waiting;
          if (waiting.turn !== 'over') break;
        }
      }
    }
  }

  #callsOf(workspace: string): Set<Waiting> | undefined {
    return this.#newcomers.get(workspace) ?? this.#others.get(workspace);
  }

  #workspaceBytes(workspace: string): number {
    return this.#bytesOf.get(workspace) ?? 0;
  }
}
