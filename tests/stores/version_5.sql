BEGIN TRANSACTION;
CREATE TABLE actions (session TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE, number INTEGER NOT NULL, at REAL NOT NULL, wall REAL NOT NULL,
        after INTEGER NOT NULL, kind TEXT NOT NULL, target INTEGER, step INTEGER, answer INTEGER,
        snooze_s REAL NOT NULL, person TEXT NOT NULL, comment TEXT NOT NULL);
INSERT INTO "actions" VALUES('20300102-030405-00ff',1,2.6,1000000000.0,14,'was_done',1,NULL,NULL,0.0,'shift 1','it was');
CREATE TABLE alerts (session TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE, id INTEGER NOT NULL, at REAL NOT NULL, kind TEXT NOT NULL,
        step INTEGER NOT NULL, before INTEGER, severity TEXT NOT NULL, evidence TEXT NOT NULL, said INTEGER NOT NULL DEFAULT 0);
INSERT INTO "alerts" VALUES('20300102-030405-00ff',1,2.4,'missed',2,NULL,'warning','not seen',18);
CREATE TABLE clock (trusted REAL NOT NULL, leapt REAL);
INSERT INTO "clock" VALUES(1000000060.0,NULL);
CREATE TABLE deleted (id TEXT PRIMARY KEY);
CREATE TABLE health (session TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE, at REAL NOT NULL, wall REAL NOT NULL, note TEXT NOT NULL, sample TEXT NOT NULL);
INSERT INTO "health" VALUES('20300102-030405-00ff',0.0,1000000000.0,'a note','{}');
CREATE TABLE labels (session TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE, at REAL NOT NULL, step INTEGER NOT NULL, confidence REAL NOT NULL);
INSERT INTO "labels" VALUES('20300102-030405-00ff',0.0,1,0.9);
INSERT INTO "labels" VALUES('20300102-030405-00ff',0.2,1,0.9);
INSERT INTO "labels" VALUES('20300102-030405-00ff',0.4,1,0.9);
INSERT INTO "labels" VALUES('20300102-030405-00ff',6.00000000000000088818e-01,1,0.9);
INSERT INTO "labels" VALUES('20300102-030405-00ff',0.8,1,0.9);
INSERT INTO "labels" VALUES('20300102-030405-00ff',1.0,1,0.9);
INSERT INTO "labels" VALUES('20300102-030405-00ff',1.20000000000000017764e+00,1,0.9);
INSERT INTO "labels" VALUES('20300102-030405-00ff',1.40000000000000013323e+00,1,0.9);
INSERT INTO "labels" VALUES('20300102-030405-00ff',1.6,1,0.9);
INSERT INTO "labels" VALUES('20300102-030405-00ff',1.8,1,0.9);
INSERT INTO "labels" VALUES('20300102-030405-00ff',2.0,3,0.9);
INSERT INTO "labels" VALUES('20300102-030405-00ff',2.2,3,0.9);
INSERT INTO "labels" VALUES('20300102-030405-00ff',2.40000000000000035527e+00,3,0.9);
INSERT INTO "labels" VALUES('20300102-030405-00ff',2.6,3,0.9);
CREATE TABLE outcomes (session TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE, at REAL NOT NULL, done TEXT NOT NULL, visits TEXT NOT NULL);
INSERT INTO "outcomes" VALUES('20300102-030405-00ff',2.6,'[1, 3]','[[1, 0.0, 1.8, 1.8], [3, 2.0, 2.6, 0.6]]');
CREATE TABLE pictures (session TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE, at REAL NOT NULL, of TEXT NOT NULL, number INTEGER NOT NULL,
        file TEXT NOT NULL);
INSERT INTO "pictures" VALUES('20300102-030405-00ff',2.4,'alert',1,'still-1-alert-1.jpg');
CREATE TABLE questions (session TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE, id INTEGER NOT NULL, at REAL NOT NULL, step INTEGER NOT NULL,
        words TEXT NOT NULL);
INSERT INTO "questions" VALUES('20300102-030405-00ff',2,2.5,3,'Did you?');
CREATE TABLE resolutions (session TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE, id INTEGER NOT NULL, at REAL NOT NULL, withdrawn INTEGER NOT NULL, said INTEGER NOT NULL DEFAULT 1);
INSERT INTO "resolutions" VALUES('20300102-030405-00ff',1,2.6,1,20);
CREATE TABLE sessions (id TEXT PRIMARY KEY, started REAL NOT NULL, ended REAL, state TEXT NOT NULL,
       person TEXT NOT NULL, bundle TEXT NOT NULL, bundle_hash TEXT NOT NULL, source TEXT NOT NULL,
       settings TEXT NOT NULL, procedure TEXT NOT NULL, frames INTEGER NOT NULL DEFAULT 0, at REAL NOT NULL DEFAULT 0,
       seen REAL NOT NULL, keep_days REAL);
INSERT INTO "sessions" VALUES('20300102-030405-00ff',1000000000.0,1000000060.0,'finished','shift 1','demo','abc','a.mp4','{"lag_s": 2.0}','{"schema": 2, "demonstrations": 6, "steps": [{"number": 1, "name": "step 1", "optional": false, "repeatable": false, "reason": "", "seen": {"present": 6, "repeated": 0, "most_visits": 1, "durations_s": [8.0, 8.0, 8.0, 8.0, 8.0]}}, {"number": 2, "name": "step 2", "optional": false, "repeatable": false, "reason": "", "seen": {"present": 6, "repeated": 0, "most_visits": 1, "durations_s": [8.0, 8.0, 8.0, 8.0, 8.0]}}, {"number": 3, "name": "step 3", "optional": false, "repeatable": false, "reason": "", "seen": {"present": 6, "repeated": 0, "most_visits": 1, "durations_s": [8.0, 8.0, 8.0, 8.0, 8.0]}}], "orderings": [{"steps": [1, 2, 3], "count": 6}], "orders": [[1, 2, 3], [1, 2, 3], [1, 2, 3], [1, 2, 3], [1, 2, 3], [1, 2, 3]], "precedence": [[1, 2, 6, 6], [1, 3, 6, 6], [2, 1, 0, 6], [2, 3, 6, 6], [3, 1, 0, 6], [3, 2, 0, 6]], "transitions": [[0, 1, 6], [1, 2, 6], [2, 3, 6], [3, 0, 6]], "longest_pause_s": 2.0, "rules": {"edges": [[1, 2], [1, 3], [2, 3]], "asked_edges": [], "needs": [], "asked_needs": [], "required": [1, 2, 3], "asked_steps": [], "single": [1, 2, 3], "variant_risk": null, "shortest_s": [[1, 3.0], [2, 3.0], [3, 3.0]], "longest_s": [[1, 21.333333333333332], [2, 21.333333333333332], [3, 21.333333333333332]], "patience_s": 30.0, "unknown": true, "false_alarms": 0.0, "questions": 0.0}}',14,2.6,1000000060.0,30.0);
CREATE TABLE spools (name TEXT PRIMARY KEY, session_id TEXT NOT NULL, lines INTEGER NOT NULL);
CREATE TABLE steps (session TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE, at REAL NOT NULL, step INTEGER NOT NULL, state TEXT NOT NULL,
        start REAL NOT NULL, stop REAL, confidence REAL NOT NULL);
INSERT INTO "steps" VALUES('20300102-030405-00ff',1.0,1,'started',0.0,NULL,0.9);
INSERT INTO "steps" VALUES('20300102-030405-00ff',1.2,1,'confirmed',0.0,NULL,0.9);
INSERT INTO "steps" VALUES('20300102-030405-00ff',2.0,1,'ended',0.0,1.8,0.9);
INSERT INTO "steps" VALUES('20300102-030405-00ff',2.4,3,'confirmed',2.0,NULL,0.8);
CREATE INDEX labels_of ON labels(session);
CREATE INDEX steps_of ON steps(session);
CREATE INDEX alerts_of ON alerts(session);
CREATE INDEX resolutions_of ON resolutions(session);
CREATE INDEX actions_of ON actions(session);
CREATE INDEX health_of ON health(session);
CREATE INDEX questions_of ON questions(session);
CREATE INDEX pictures_of ON pictures(session);
CREATE INDEX outcomes_of ON outcomes(session);
COMMIT;
PRAGMA user_version = 5;
